#include "exporter/nccl_pair_command.h"

#include <cstdlib>
#include <iostream>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "core/runtime/clock.h"
#include "core/runtime/log.h"
#include "core/runtime/signals.h"
#include "exporter/checks/gpu_use.h"
#include "exporter/exit_code.h"
#include "exporter/gpu_inventory.h"
#include "exporter/gpu_look.h"
#include "exporter/gpu_source.h"
#include "exporter/identity.h"
#include "exporter/nccl_pair/nccl_all_reduce.h"
#include "exporter/nccl_pair/pair.h"
#include "exporter/store/store.h"

namespace gpuward::exporter {
namespace {

using nccl_pair::Verdict;

// For how many seconds a side whose other side has gone may still be in a library's call.
constexpr int kSecondsLeftAlone = 5;

// Whether the GPUs can be had, as far as the driver says; what it does not say CUDA will. kBlocked:
// somebody uses them now.
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

[[noreturn]] void end_with(const Verdict& verdict, const Clock& clock) {
  std::cout << nccl_pair::verdict_line(verdict, host_name(), clock.wall()) << "\n" << std::flush;
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

// What the one thread finds and the other prints.
class Outcome {
 public:
  void set(Verdict verdict) {
    const std::lock_guard lock(mutex_);
    verdict_ = std::move(verdict);
  }
  [[nodiscard]] std::optional<Verdict> get() const {
    const std::lock_guard lock(mutex_);
    return verdict_;
  }

 private:
  mutable std::mutex mutex_;
  std::optional<Verdict> verdict_;
};

}  // namespace

int nccl_pair_command(const Flags& flags) {
  const auto settings = read_settings(flags);
  if (!settings) return complain(settings.error());
  Signals signals;
  Clock& clock = lasting_clock();
  Log log(flags.log_level, flags.log_format);
  nccl_pair::Pair pair(flags.nccl_pair, node_name(flags), clock, log);
  const auto deadline = clock.steady() + flags.nccl_pair.timeout;
  const auto open = [&]() -> Result<std::unique_ptr<nccl_pair::AllReduce>> {
    if (auto status = look_for_obstacles(flags, *settings, clock, log); !status)
      return std::unexpected(status.error());
    return nccl_pair::open_nccl({.nccl_library = flags.nccl_pair.nccl_library,
                                 .cuda_library = flags.nccl_pair.cuda_library,
                                 .gpus = static_cast<unsigned>(flags.nccl_pair.gpus)},
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
    end_with(nccl_pair::could_not_tell("stopped before there was a verdict"), clock);
  const auto verdict = outcome.get();
  end_with(verdict ? *verdict : pair.end_now(), clock);
}

}  // namespace gpuward::exporter
