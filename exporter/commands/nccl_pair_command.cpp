#include "exporter/commands/nccl_pair_command.h"

#include <CLI/CLI.hpp>
#include <array>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "core/command_line/duration_option.h"
#include "core/command_line/examples.h"
#include "core/runtime/clock.h"
#include "core/runtime/log.h"
#include "core/runtime/signals.h"
#include "exporter/checks/check/gpu_use.h"
#include "exporter/config/exit_code.h"
#include "exporter/config/identity.h"
#include "exporter/nccl_pair/link.h"
#include "exporter/nccl_pair/nccl_all_reduce.h"
#include "exporter/nccl_pair/options.h"
#include "exporter/nccl_pair/pair.h"
#include "exporter/store/store.h"
#include "exporter/watch/gpu_inventory.h"
#include "exporter/watch/gpu_source.h"

namespace gpuward::exporter {
namespace {

using nccl_pair::PairResult;

constexpr std::array kPairExamples = {
    Example{"nccl-pair",
            "gpuward-exporter nccl-pair --rank 0 --address 10.0.0.7 --port 29400 --token 3f9a\n"
            "gpuward-exporter nccl-pair --rank 1 --address 10.0.0.7 --port 29400 --token 3f9a"}};
// How many seconds a side may still be in a library's call after the other side has gone.
constexpr int kSecondsLeftAlone = 5;

// Checks whether the GPUs are available as far as the driver reports it; CUDA reports the rest.
// kBlocked: the GPUs are in use.
Status look_for_obstacles(const Flags& flags, const Settings& settings, Clock& clock, Log& log) {
  const GpuTimes times{settings.checks.gpu_interval, settings.checks.gpu_timeout};
  const auto source = make_gpu_source(flags, [times] { return times; }, clock, log);
  if (!source) return fail(ErrorKind::kRefused, source.error().message);
  GpuTelemetry telemetry = look_at_gpus(**source, times.timeout, clock, {});
  Store store({});
  if (telemetry.report) store.set_gpus(gpus_of(*telemetry.report, {}), clock.wall());
  store.set_telemetry(std::move(telemetry));
  const Snapshot snapshot = store.snapshot();
  if (const auto mig = mig_gpu(snapshot))
    return fail(ErrorKind::kRefused, *mig + ": NCCL needs whole GPUs");
  if (auto user = gpu_user(snapshot)) return fail(ErrorKind::kBlocked, *std::move(user));
  return {};
}

[[noreturn]] void end_with(const PairResult& verdict, const Clock& clock) {
  std::cout << nccl_pair::pair_result_line(verdict, host_name(), clock.wall()) << "\n"
            << std::flush;
  switch (verdict.status) {
    case CheckStatus::kPass:
      std::_Exit(kDone);
    case CheckStatus::kFail:
      std::_Exit(kFailed);
    case CheckStatus::kWarn:
    case CheckStatus::kSkip:
    case CheckStatus::kError:
      break;
  }
  std::_Exit(kCouldNotTell);
}

// Passes the verdict from the measuring thread to the printing one.
class Outcome {
 public:
  void set(PairResult verdict) {
    const std::lock_guard lock(mutex_);
    verdict_ = std::move(verdict);
  }
  [[nodiscard]] std::optional<PairResult> get() const {
    const std::lock_guard lock(mutex_);
    return verdict_;
  }

 private:
  mutable std::mutex mutex_;
  std::optional<PairResult> verdict_;
};

// Exits the process with 0: the pair passed; 1: it failed; 2: wrong settings; 3: unknown. It does
// not return once the test has started, because NCCL and CUDA may still be running.
int run_pair(const nccl_pair::Options& options, const Flags& flags) {
  const auto settings = read_settings(flags);
  if (!settings) return complain(settings.error());
  Signals signals;
  Clock& clock = lasting_clock();
  Log log(flags.log_level, flags.log_format);
  nccl_pair::Pair pair(options, node_name(flags), clock, log);
  const auto deadline = clock.steady() + options.timeout;
  const auto open = [&]() -> Result<std::unique_ptr<nccl_pair::AllReduce>> {
    if (auto status = look_for_obstacles(flags, *settings, clock, log); !status)
      return std::unexpected(status.error());
    return nccl_pair::open_nccl({.nccl_library = options.nccl_library,
                                 .cuda_library = options.cuda_library,
                                 .gpus = static_cast<unsigned>(options.gpus)},
                                clock);
  };
  Outcome outcome;
  std::stop_source over;
  const std::jthread worker([&] {
    outcome.set(pair.run(open));
    over.request_stop();
  });
  int alone = 0;
  const auto watch = [&] {
    alone = pair.is_left_alone() ? alone + 1 : 0;
    if (clock.steady() >= deadline || alone > kSecondsLeftAlone) over.request_stop();
  };
  if (signals.wait([] {}, watch, over.get_token()) != 0)
    end_with(nccl_pair::could_not_tell("stopped before the test finished"), clock);
  const auto verdict = outcome.get();
  end_with(verdict ? *verdict : pair.end_now(), clock);
}

constexpr std::size_t kMostTokenBytes = 256;
constexpr DurationLimits kPairLimits{std::chrono::seconds(1), std::chrono::hours(24)};

std::string fault_of_address(const std::string& address) {
  const auto endpoint = nccl_pair::parse_endpoint(address, 1);
  return endpoint ? std::string() : endpoint.error().message;
}

std::string fault_of_token(const std::string& token) {
  const bool is_good = !token.empty() && token.size() <= kMostTokenBytes;
  return is_good ? std::string()
                 : "a token must have 1 to " + std::to_string(kMostTokenBytes) + " bytes";
}

}  // namespace

CLI::App* add_nccl_pair(CLI::App& app, nccl_pair::Options& options) {
  CLI::App* command = app.add_subcommand(
      "nccl-pair", "Measure all_reduce across the GPUs of this node and one other node, and exit");
  command->fallthrough();
  command->add_option("--rank", options.rank, "0: listen on --address; 1: connect to it")
      ->required()
      ->check(CLI::Range(0, 1));
  command->add_option("--address", options.address, "IP address of rank 0")
      ->required()
      ->check(fault_of_address);
  command->add_option("--port", options.port, "Port of rank 0")
      ->required()
      ->check(CLI::Range(1, 65535));
  command->add_option("--token", options.token, "Secret shared by the two nodes of this pair")
      ->required()
      ->envname("PAIR_TOKEN")  // all users who can list processes see a command line
      ->check(fault_of_token);
  command
      ->add_option("--min-bus-bandwidth", options.min_bus_bandwidth,
                   "Minimum bus bandwidth in GB/s to pass")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  add_duration_option(*command, "--timeout", options.timeout, kPairLimits,
                      "Time limit of the whole test; a test that exceeds it counts as hanging");
  add_duration_option(*command, "--join-timeout", options.join_timeout, kPairLimits,
                      "How long to wait for the peer; at most half of --timeout");
  command
      ->add_option("--gpus", options.gpus, "Number of GPUs to use, starting with the first; 0: all")
      ->check(CLI::Range(0, 64))
      ->capture_default_str();
  command
      ->add_option("--nccl-library", options.nccl_library, "NCCL library, name or path for dlopen")
      ->capture_default_str();
  command
      ->add_option("--cuda-library", options.cuda_library,
                   "CUDA driver library, name or path for dlopen")
      ->capture_default_str();
  add_examples(app, kPairExamples);
  return command;
}

void add_nccl_pair_command(CLI::App& app, Commands& commands) {
  const auto options = std::make_shared<nccl_pair::Options>();
  commands.emplace_back(add_nccl_pair(app, *options),
                        [options](const Flags& flags) { return run_pair(*options, flags); });
}

}  // namespace gpuward::exporter
