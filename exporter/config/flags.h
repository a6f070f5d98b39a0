// The command line of gpuward-exporter: the flags that every command shares, and the door through
// which the commands add themselves. Flags say where things are, the configuration file says what
// they mean. Read by main().
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/http/client/authorized_client.h"
#include "core/runtime/log.h"
#include "exporter/gpu/report/library.h"
#include "exporter/host/host_paths.h"
#include "exporter/publish/metrics_options.h"

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11 calls it so
class App;
}

namespace gpuward::exporter {

// Who sends the kernel's lines to which Loki.
struct LokiFlags {
  std::string push_url;  // empty: nobody
  std::string tenant;
  http::ClientFiles files;
};

// Read without --config.file if it exists: the manifests mount the exporter's ConfigMap there.
inline constexpr const char* kUsualConfigFile = "/etc/gpuward/config.yaml";

struct Flags {
  std::vector<std::string> listen_addresses{":10980"};
  std::vector<std::string> health_addresses;  // of a listener for probes alone; empty: none
  std::vector<std::string> page_hosts;        // names of the page beside the node's own
  std::filesystem::path web_config_file;
  std::filesystem::path config_file;
  std::filesystem::path config_folder;  // of a mounted ConfigMap with the replaced suite's keys
  std::vector<std::filesystem::path> npd_configs;  // node-problem-detector's
  std::string kernel_log_path;                     // empty: as the configuration says
  std::filesystem::path gpu_simulate_file;
  bool has_no_gpus = false;
  LibraryPaths libraries;
  HostPaths host;
  LokiFlags loki;
  std::string node_name;                 // of our Node object; empty: nothing is written to it
  std::string kubeconfig, kube_context;  // both empty: in a pod its service account
  MetricsOptions metrics;                // on top of what the settings ask for
  std::filesystem::path state_path{"/var/lib/gpuward"};
  bool may_inject = false;     // --debug.allow-injection
  bool checks_config = false;  // --check-config: read all files and exit
  LogLevel log_level = LogLevel::kInfo;
  LogFormat log_format = LogFormat::kLogfmt;
};

// Returns the exit code of the program.
using RunCommand = std::function<int(const Flags&)>;
// What to run where a command was given.
using Commands = std::vector<std::pair<const CLI::App*, RunCommand>>;
// Adds a command with its flags and its examples to the command line, and what runs it to
// `commands`. CLI::ValidationError from a callback of its own refuses the command line.
using AddCommand = std::function<void(CLI::App& app, Commands& commands)>;

struct CommandLine {
  Flags flags;
  RunCommand run;  // empty: no command was given, the exporter serves
};

// What was given, or the exit code where the command line asks for nothing more (--help, --version,
// completion: 0) or is wrong (2, said on stderr).
[[nodiscard]] std::variant<CommandLine, int> parse_command_line(
    int argc, const char* const* argv, std::span<const AddCommand> commands,
    const std::filesystem::path& usual_config = kUsualConfigFile);

}  // namespace gpuward::exporter
