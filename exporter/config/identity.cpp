#include "exporter/config/identity.h"

#include <unistd.h>

#include <array>
#include <climits>

namespace gpuward::exporter {

std::string host_name() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "unknown";
  return name.data();
}

std::string node_name(const Flags& flags) {
  return flags.node_name.empty() ? host_name() : flags.node_name;
}

std::string owner_of_run(const Clock& clock) {
  return host_name() + "-" + std::to_string(clock.wall().time_since_epoch().count());
}

std::string user_agent() { return "gpuward-exporter/" GPUWARD_VERSION; }

HostPaths node_trees(const Flags& flags) {
  HostPaths host = flags.host;
  if (!flags.gpu_simulate_file.empty() && host.sys == HostPaths().sys) host.sys = "/nonexistent";
  return host;
}

Machine machine_of(const Flags& flags) {
  return flags.gpu_simulate_file.empty() ? read_machine(flags.host) : Machine();
}

SettingsSources settings_sources(const Flags& flags) {
  return {.file = flags.config_file,
          .folder = flags.config_folder,
          .npd = flags.npd_configs,
          .environment = environment_lookup()};
}

Result<Settings> read_settings(const Flags& flags) {
  auto settings = load_settings(settings_sources(flags));
  if (settings && !flags.kernel_log_path.empty()) settings->kernel_log_path = flags.kernel_log_path;
  return settings;
}

}  // namespace gpuward::exporter
