// The command line of gpuward-exporter, read by main(); CLI11 is included in flags.cpp and
// core/command_line only. Flags say where things are, the configuration file says what they mean.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include "core/command_line/output.h"
#include "core/runtime/log.h"
#include "exporter/check_selection.h"
#include "exporter/findings_command.h"
#include "exporter/gpu/report/library.h"
#include "exporter/host/host_paths.h"
#include "exporter/nccl_pair/options.h"
#include "exporter/progress.h"
#include "exporter/publish/metrics_options.h"
#include "exporter/store/clear_request.h"
#include "exporter/sweep.h"

namespace gpuward::exporter {

enum class Command : std::uint8_t {
  kServe,
  kParseLog,
  kGpuWorker,
  kCheckConfig,
  kListFindings,
  kClearFindings,
  kCheck,
  kSweep,
  kQuarantine,
  kNcclPair,
  kGpuUsers
};

struct Flags {
  Command command = Command::kServe;
  std::vector<std::string> listen_addresses{":10980"};
  std::filesystem::path web_config_file;
  std::filesystem::path config_file;
  std::filesystem::path config_folder;  // of a mounted ConfigMap with the replaced suite's keys
  std::string kernel_log_path;          // empty: as the configuration says
  std::filesystem::path gpu_simulate_file;
  bool has_no_gpus = false;
  LibraryPaths libraries;
  HostPaths host;
  std::string node_name;                 // of our Node object; empty: nothing is written to it
  std::string kubeconfig, kube_context;  // both empty: in a pod its service account
  MetricsOptions metrics;                // on top of what the settings ask for
  std::filesystem::path state_path{"/var/lib/gpuward"};
  ClearRequest clear;                                   // of kClearFindings
  OutputFormat findings_output = OutputFormat::kTable;  // of kListFindings
  CheckRequest check;                                   // of kCheck
  SweepOptions sweep;                                   // of kSweep, the environment on top
  bool is_quarantine_forced = false;  // of kQuarantine: the node need not be cordoned
  std::vector<int> quarantine_checks{4, 6};
  bool clears_latched = false;                  // of kQuarantine, where it passes
  ProgressWish progress = ProgressWish::kAuto;  // of kSweep and kQuarantine
  nccl_pair::Options nccl_pair;                 // of kNcclPair
  bool may_inject = false;                      // --debug.allow-injection
  LogLevel log_level = LogLevel::kInfo;
  LogFormat log_format = LogFormat::kLogfmt;
};

// The flags, or the exit code where the command line asks for nothing more (--help, --version,
// completion: 0)
// or is wrong (2, said on stderr).
[[nodiscard]] std::variant<Flags, int> parse_flags(int argc, const char* const* argv);

}  // namespace gpuward::exporter
