// The command line of gpuward-exporter: the flags that every command shares, and the interface
// through which commands add themselves. Flags are paths and addresses; the configuration file has
// the settings. Read by main().
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

namespace CLI {  // NOLINT(readability-identifier-naming): name of CLI11
class App;
}

namespace gpuward::exporter {

// The Loki that receives the kernel's lines.
struct LokiFlags {
  std::string push_url;  // empty: no Loki
  std::string tenant;
  http::ClientFiles files;
};

// Read without --config.file if it exists: the manifests mount the exporter's ConfigMap there.
inline constexpr const char* kUsualConfigFile = "/etc/gpuward/config.yaml";

struct Flags {
  std::vector<std::string> listen_addresses{":10980"};
  std::vector<std::string> health_addresses;  // of a listener for probes alone; empty: none
  std::vector<std::string> page_hosts;        // names of the page in addition to the node's own
  std::filesystem::path web_config_file;
  std::filesystem::path config_file;
  std::filesystem::path config_folder;  // of a mounted ConfigMap with the replaced suite's keys
  std::vector<std::filesystem::path> npd_configs;  // node-problem-detector's
  std::string kernel_log_path;                     // empty: from the configuration
  std::filesystem::path gpu_simulate_file;
  bool has_no_gpus = false;
  LibraryPaths libraries;
  HostPaths host;
  LokiFlags loki;
  std::string node_name;  // of this node's Node object; empty: nothing is written to it
  std::string kubeconfig, kube_context;  // both empty: the service account of the pod
  MetricsOptions metrics;                // in addition to those of the settings
  std::filesystem::path state_path{"/var/lib/gpuward"};
  bool may_inject = false;     // --debug.allow-injection
  bool checks_config = false;  // --check-config: read all files and exit
  LogLevel log_level = LogLevel::kInfo;
  LogFormat log_format = LogFormat::kLogfmt;
};

// Returns the exit code of the program.
using RunCommand = std::function<int(const Flags&)>;
// The functions that run each command of the command line.
using Commands = std::vector<std::pair<const CLI::App*, RunCommand>>;
// Adds a command with its flags and examples to the command line, and its function to `commands`. A
// callback of the command rejects the command line with CLI::ValidationError.
using AddCommand = std::function<void(CLI::App& app, Commands& commands)>;

struct CommandLine {
  Flags flags;
  RunCommand run;  // empty: no command was given, the exporter serves
};

// Returns the parsed command line. Returns the exit code if there is nothing to run (--help,
// --version, completion: 0) or the command line is wrong (2, with an error on stderr).
[[nodiscard]] std::variant<CommandLine, int> parse_command_line(
    int argc, const char* const* argv, std::span<const AddCommand> commands,
    const std::filesystem::path& usual_config = kUsualConfigFile);

}  // namespace gpuward::exporter
