#include "exporter/config/flags.h"

#include <CLI/CLI.hpp>
#include <array>
#include <filesystem>
#include <iostream>
#include <string>
#include <system_error>

#include "core/command_line/client_file_options.h"
#include "core/command_line/completion.h"
#include "core/command_line/examples.h"
#include "core/runtime/text.h"
#include "exporter/config/exit_code.h"

namespace gpuward::exporter {
namespace {

constexpr std::array kExamples = {
    Example{"",
            "gpuward-exporter --config.file gpuward.yaml --check-config\n"
            "gpuward-exporter --web.listen-address 127.0.0.1:10980 --state.path ./state"},
    Example{"completion",
            "source <(gpuward-exporter completion bash)\n"
            "gpuward-exporter completion zsh > ~/.gpuward-exporter.zsh"},
};

// Accepts the values that AMD's exporter accepts for its switch.
bool is_yes(std::string_view text) {
  const std::string word = CLI::detail::to_lower(std::string(trim(text)));
  return word == "1" || word == "true" || word == "yes" || word == "on";
}

void add_gpu_flags(CLI::App& app, Flags& flags) {
  auto* simulate = app.add_option("--gpu.simulate", flags.gpu_simulate_file,
                                  "Read simulated GPUs from this YAML file");
  app.add_flag("--gpu.none", flags.has_no_gpus, "Do not query the driver, use only the kernel log")
      ->excludes(simulate);
  app.add_option("--gpu.nvml-library", flags.libraries.nvml,
                 "NVML library, name or path for dlopen")
      ->capture_default_str();
  app.add_option(
      "--gpu.driver-root", flags.libraries.driver_root,
      "Root folder of NVIDIA's driver, such as /run/nvidia/driver: the exporter searches "
      "its library folders for NVML first");
  app.add_option("--gpu.amd-smi-library", flags.libraries.amd_smi,
                 "AMD SMI library, name or path for dlopen")
      ->capture_default_str();
  app.add_option_function<std::string>(
         "--gpu.amd-cper",
         [&flags](const std::string& word) { flags.libraries.reads_amd_cper = is_yes(word); },
         "Whether to read AMD's error records: 1, true, yes or on; any other value turns it off")
      ->default_str("on")
      ->envname("AMD_METRICS_EXPORTER_ENABLE_CPER");
}

void add_loki_flags(CLI::App& app, LokiFlags& loki) {
  app.add_option(
         "--loki.push-url", loki.push_url,
         "URL of the Loki server that receives the kernel-log lines: http://loki:3100; replaces a "
         "DaemonSet that ships dmesg")
      ->check([](const std::string& url) {
        const bool is_url = url.starts_with("http://") || url.starts_with("https://");
        return is_url ? "" : "must begin with http:// or https://";
      });
  app.add_option("--loki.tenant", loki.tenant, "Loki tenant (X-Scope-OrgID)");
  add_client_file_options(app, "--loki", loki.files);
}

// The paths under which a container sees the node.
void add_path_flags(CLI::App& app, Flags& flags) {
  app.add_option("--path.procfs", flags.host.proc, "Path of the node's /proc")
      ->capture_default_str();
  app.add_option("--path.sysfs", flags.host.sys, "Path of the node's /sys")->capture_default_str();
  app.add_option("--path.dev", flags.host.dev, "Path of the node's /dev")->capture_default_str();
}

void add_node_flags(CLI::App& app, Flags& flags) {
  app.add_option("--node.name", flags.node_name,
                 "Name of this node in Kubernetes, which the exporter needs to write to the Node")
      ->envname("NODE_NAME");
  app.add_option("--kubeconfig", flags.kubeconfig,
                 "Kubeconfig file; default: the service account of the pod");
  app.add_option("--context", flags.kube_context, "Context of the kubeconfig");
}

void add_metrics_flags(CLI::App& app, Flags& flags) {
  app.add_flag("--metrics.dcgm-compat", flags.metrics.dcgm_compat,
               "Also serve metrics with the names and labels of dcgm-exporter");
  app.add_flag("--metrics.efa-compat", flags.metrics.efa_compat,
               "Also serve metrics with the names of the EFA node exporter");
  app.add_flag("--metrics.per-link", flags.metrics.per_link,
               "Also serve a series for each NVLink or XGMI link");
}

void add_flags(CLI::App& app, Flags& flags, std::string& level, std::string& format) {
  app.add_option("--web.listen-address", flags.listen_addresses,
                 "Address to serve on, may be repeated: `:10980`, `127.0.0.1:10980`, `[::1]:10980`")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->capture_default_str();
  app.add_option(
         "--web.health-address", flags.health_addresses,
         "Address of a listener for probes only, with /healthz and /readyz, may be repeated: "
         "`:10983`; default: none")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--web.config.file", flags.web_config_file, "YAML file with TLS and credentials");
  app.add_option(
         "--web.hosts", flags.page_hosts,
         "Further host names under which browsers may open the page: a,b; `*`: any. Addresses, "
         "localhost and the node's own names always work; /metrics accepts any name")
      ->delimiter(',');
  app.add_option(
      "--config.file", flags.config_file,
      std::string("YAML configuration file; default: ") + kUsualConfigFile + ", if it exists");
  app.add_option("--config.directory", flags.config_folder,
                 "Folder (mounted ConfigMap) with one file per setting of the suite that gpuward "
                 "replaces: CHECK_INTERVAL, ENABLE_TAINT, instance-profiles.conf, ...");
  app.add_option("--npd.config", flags.npd_configs,
                 "Configuration file of node-problem-detector, or a folder with such *.json files, "
                 "may be repeated; gpuward runs its custom plug-ins and kernel-log rules")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--kernel-log.path", flags.kernel_log_path,
                 "Kernel log: /dev/kmsg (default), or any file or FIFO");
  add_loki_flags(app, flags.loki);
  add_gpu_flags(app, flags);
  add_path_flags(app, flags);
  add_node_flags(app, flags);
  add_metrics_flags(app, flags);
  app.add_option("--state.path", flags.state_path, "Directory of the state that survives a restart")
      ->capture_default_str();
  app.add_flag("--debug.allow-injection", flags.may_inject,
               "Allow error injection in AMD's health service, for tests");
  app.add_option("--log.level", level, "debug, info, warn or error")->capture_default_str();
  app.add_option("--log.format", format, "logfmt or json")->capture_default_str();
}

// Returns false if a word is unknown, with an error on stderr.
bool take_log_words(const std::string& level, const std::string& format, Flags& flags) {
  const auto log_level = parse_log_level(level);
  const auto log_format = parse_log_format(format);
  if (!log_level || !log_format) {
    std::cerr << "gpuward-exporter: "
              << (log_level ? "--log.format: " + log_format.error().message
                            : "--log.level: " + log_level.error().message)
              << "\n";
    return false;
  }
  flags.log_level = *log_level;
  flags.log_format = *log_format;
  return true;
}

RunCommand given_of(const Commands& commands) {
  for (const auto& [command, run] : commands) {
    if (command->parsed()) return run;
  }
  return nullptr;
}

}  // namespace

std::variant<CommandLine, int> parse_command_line(int argc, const char* const* argv,
                                                  std::span<const AddCommand> add_commands,
                                                  const std::filesystem::path& usual_config) {
  Flags flags;
  std::string level = "info";
  std::string format = "logfmt";
  CLI::App app(
      "Export the health of this node's GPUs, from the kernel log and the driver, as Prometheus "
      "metrics.",
      "gpuward-exporter");
  // If a flag is given twice, the last one wins, as in an overlay that adds to a manifest's
  // arguments.
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  add_flags(app, flags, level, format);
  app.add_flag("--check-config", flags.checks_config, "Check all configuration files and exit");
  app.set_version_flag("--version", "gpuward-exporter " GPUWARD_VERSION);
  Commands commands;
  for (const AddCommand& add : add_commands) add(app, commands);
  if (const auto exit_code = parse_words(app, kExamples, argc, argv)) return *exit_code;
  if (!take_log_words(level, format, flags)) return kWrongUsage;
  flags.libraries.sys = flags.host.sys;
  std::error_code ignored;
  if (flags.config_file.empty() && std::filesystem::exists(usual_config, ignored))
    flags.config_file = usual_config;
  return CommandLine{std::move(flags), given_of(commands)};
}

}  // namespace gpuward::exporter
