// gpuward-exporter: says what the kernel log and the driver know about this node's GPUs.
#include <malloc.h>

#include <iostream>
#include <utility>
#include <variant>

#include "core/runtime/clock.h"
#include "core/runtime/log.h"
#include "core/runtime/memory.h"
#include "core/runtime/signals.h"
#include "exporter/commands.h"
#include "exporter/exit_code.h"
#include "exporter/exporter.h"
#include "exporter/findings_command.h"
#include "exporter/flags.h"
#include "exporter/gpu/worker/worker_loop.h"
#include "exporter/gpu_users_command.h"
#include "exporter/kernel_log/parse_log.h"
#include "exporter/nccl_pair_command.h"

namespace {

using gpuward::exporter::Command;
using gpuward::exporter::complain;
using gpuward::exporter::Exporter;
using gpuward::exporter::Flags;

// One arena for all threads, and memory given back early: a DaemonSet pays for every MiB on every
// node.
void keep_memory_small() {
  mallopt(M_ARENA_MAX, 1);
  mallopt(M_TRIM_THRESHOLD, 64 << 10);
  mallopt(M_MMAP_THRESHOLD, 64 << 10);
}

int serve(const Flags& flags) {
  gpuward::Signals signals;
  gpuward::Clock& clock = gpuward::lasting_clock();
  gpuward::Log log(flags.log_level, flags.log_format);
  auto exporter = Exporter::start(flags, clock, log);
  if (!exporter) return complain(exporter.error());
  for (const int port : (*exporter)->ports()) {
    log.info("Serving", {{"version", GPUWARD_VERSION}, {"port", std::to_string(port)}});
  }
  bool has_started = false;
  const int signal = signals.wait([&] { (*exporter)->reload(); },
                                  [&] {
                                    (*exporter)->tick();
                                    if (!std::exchange(has_started, true)) {
                                      gpuward::give_back_code_pages();
                                    }
                                  });
  log.info("Stopping", {{"signal", std::to_string(signal)}});
  return 0;
}

int check_config(const Flags& flags) {
  const auto status = gpuward::exporter::check_configuration(flags);
  if (!status) return complain(status.error());
  std::cout << "The configuration is good.\n";
  return 0;
}

int run(const Flags& flags) {
  switch (flags.command) {
    case Command::kServe:
      return serve(flags);
    case Command::kParseLog:
      return gpuward::exporter::run_parse_log(std::cin, std::cout, gpuward::xid::Catalogue());
    case Command::kGpuWorker:
      gpuward::exporter::gpu_worker_main(gpuward::exporter::gpu_libraries(), flags.libraries);
    case Command::kCheckConfig:
      return check_config(flags);
    case Command::kListFindings:
      return gpuward::exporter::run_list_findings(flags.state_path, flags.findings_output,
                                                  std::cout);
    case Command::kCheck:
      return gpuward::exporter::check_command(flags);
    case Command::kSweep:
      return gpuward::exporter::sweep_command(flags);
    case Command::kQuarantine:
      return gpuward::exporter::quarantine_command(flags);
    case Command::kNcclPair:
      return gpuward::exporter::nccl_pair_command(flags);
    case Command::kGpuUsers:
      return gpuward::exporter::run_gpu_users(flags.host, std::cout);
    case Command::kClearFindings: {
      gpuward::SystemClock clock;
      return gpuward::exporter::run_clear_findings(flags.state_path, flags.clear, clock, std::cout);
    }
  }
  return gpuward::exporter::kFailed;
}

}  // namespace

int main(int argc, char** argv) {
  keep_memory_small();
  const auto flags = gpuward::exporter::parse_flags(argc, argv);
  if (const int* exit_code = std::get_if<int>(&flags)) return *exit_code;
  return run(std::get<Flags>(flags));
}
