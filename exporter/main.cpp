// gpuward-exporter: publishes what the kernel log and the driver report about this node's GPUs.
#include <malloc.h>

#include <iostream>
#include <stop_token>
#include <utility>
#include <variant>

#include "core/runtime/clock.h"
#include "core/runtime/log.h"
#include "core/runtime/memory.h"
#include "core/runtime/signals.h"
#include "exporter/commands/all.h"
#include "exporter/config/exit_code.h"
#include "exporter/config/flags.h"
#include "exporter/exporter.h"

namespace {

using gpuward::exporter::CommandLine;
using gpuward::exporter::complain;
using gpuward::exporter::Exporter;
using gpuward::exporter::Flags;

// Uses one arena for all threads and returns memory early, because a DaemonSet pays for every MiB
// on every node.
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
  const auto* const health = (*exporter)->health();
  for (const int port : health == nullptr ? std::vector<int>() : health->ports()) {
    log.info("Serving health endpoints", {{"port", std::to_string(port)}});
  }
  (*exporter)->tick();
  bool has_started = false;
  std::stop_source over;
  const int signal = signals.wait([&] { (*exporter)->reload(); },
                                  [&] {
                                    (*exporter)->tick();
                                    if ((*exporter)->wants_restart()) over.request_stop();
                                    if (!std::exchange(has_started, true)) {
                                      gpuward::give_back_code_pages();
                                    }
                                  },
                                  over.get_token());
  log.info("Stopping", {{"signal", std::to_string(signal)}});
  return 0;
}

int check_config(const Flags& flags) {
  const auto status = gpuward::exporter::check_configuration(flags);
  if (!status) return complain(status.error());
  std::cout << "The configuration is valid.\n";
  return 0;
}

int run(const CommandLine& line) {
  if (line.flags.checks_config) return check_config(line.flags);
  return line.run ? line.run(line.flags) : serve(line.flags);
}

}  // namespace

int main(int argc, char** argv) {
  keep_memory_small();
  const auto line =
      gpuward::exporter::parse_command_line(argc, argv, gpuward::exporter::all_commands());
  if (const int* exit_code = std::get_if<int>(&line)) return *exit_code;
  return run(std::get<CommandLine>(line));
}
