#include "exporter/checks/check_run.h"

#include <algorithm>
#include <exception>
#include <utility>
#include <vector>

#include "exporter/checks/check/decide.h"
#include "exporter/checks/check/gpu_use.h"
#include "exporter/checks/schedule.h"
#include "exporter/host/gpu_lock.h"

namespace gpuward::exporter {

struct CheckRun::Shared {
  RunRequest request;
  std::mutex mutex;
  std::condition_variable ended;
  std::optional<CheckResult> result;
  bool was_skipped = false;

  void run(WallTime started, Clock& clock, const std::stop_token& stop);
};

namespace {

constexpr std::chrono::milliseconds kLongestEnd{900};

// Returns whether the snapshot has a source that can report use of the GPUs.
bool is_use_known(const Snapshot& snapshot) {
  if (snapshot.workloads.is_known || !snapshot.telemetry.report) return true;
  return std::ranges::all_of(snapshot.telemetry.report->vendors, [](const VendorReading& vendor) {
    return std::ranges::all_of(vendor.gpus,
                               [](const GpuReading& gpu) { return gpu.processes.has_value(); });
  });
}

CheckOutcome look(const RunRequest& request, Clock& clock, const std::stop_token& stop) {
  if (request.entry.needs_idle_gpus && !request.is_exclusive) {
    if (const auto user = gpu_user(request.snapshot)) {
      return CheckOutcome::skipped("the GPUs are in use: " + *user);
    }
    if (!is_use_known(request.snapshot)) {
      return CheckOutcome::skipped("it is unknown whether the GPUs are in use");
    }
    if (request.objection) {
      if (auto why = request.objection()) return CheckOutcome::skipped(*std::move(why));
    }
  }
  std::optional<GpuLock> lock;
  if (request.entry.loads_gpus) {
    auto taken = GpuLock::take(request.state_folder, request.entry.name);
    if (!taken) return CheckOutcome::skipped(taken.error().message);
    lock.emplace(*std::move(taken));
  }
  const auto profile = request.settings.profiles.find(request.instance_type);
  return request.check->run({.snapshot = request.snapshot,
                             .settings = request.settings,
                             .host = request.host,
                             .instance_type = request.instance_type,
                             .profile = profile,
                             .clock = clock,
                             .stop = stop,
                             .is_exclusive = request.is_exclusive});
}

// The fence: an exception of a check becomes its error.
CheckOutcome look_safely(const RunRequest& request, Clock& clock, const std::stop_token& stop) try {
  return look(request, clock, stop);
} catch (const std::exception& error) {
  return CheckOutcome::error(std::string("the check failed with an internal error: ") +
                             error.what());
}

// Keeps threads that are stuck in the kernel until the process ends, because joining them would
// wait for the kernel. The list is never destroyed, so that no destructor joins them.
void leave_behind(std::jthread thread) {
  static std::mutex mutex;
  static auto* const kStuck = new std::vector<std::jthread>;
  const std::lock_guard lock(mutex);
  kStuck->push_back(std::move(thread));
}

}  // namespace

CheckRun::CheckRun(RunRequest request, Clock& clock)
    : started_(clock.wall()),
      deadline_(clock.steady() + time_limit_of(request.entry, request.settings)),
      shared_(std::make_shared<Shared>()) {
  shared_->request = std::move(request);
  thread_ = std::jthread([shared = shared_, started = started_, &clock](
                             const std::stop_token& stop) { shared->run(started, clock, stop); });
}

void CheckRun::Shared::run(WallTime started, Clock& clock, const std::stop_token& stop) {
  const auto begin = clock.steady();
  CheckOutcome outcome = look_safely(request, clock, stop);
  const bool is_skip = outcome.kind == CheckOutcome::Kind::kSkipped;
  const auto duration =
      std::chrono::duration_cast<std::chrono::milliseconds>(clock.steady() - begin);
  CheckResult made = decide_status(std::move(outcome), request.entry.name, {started, duration},
                                   check_findings(request.snapshot.state, request.entry.name));
  if (request.on_result) request.on_result(made);
  const std::lock_guard lock(mutex);
  result = std::move(made);
  was_skipped = is_skip;
  ended.notify_all();
}

CheckRun::~CheckRun() {
  thread_.request_stop();
  if (!wait(kLongestEnd)) leave_behind(std::move(thread_));
}

std::optional<CheckResult> CheckRun::result() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->result;
}

bool CheckRun::was_skipped() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->was_skipped;
}

bool CheckRun::wait(std::chrono::milliseconds limit) const {
  std::unique_lock lock(shared_->mutex);
  return shared_->ended.wait_for(lock, limit, [this] { return shared_->result.has_value(); });
}

CheckResult CheckRun::overdue(WallTime now) const {
  const RunRequest& request = shared_->request;
  const auto duration = std::chrono::duration_cast<std::chrono::milliseconds>(now - started_);
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(duration);
  return decide_status(
      CheckOutcome::error("still running after " + std::to_string(seconds.count()) + " s"),
      request.entry.name, {started_, duration},
      check_findings(request.snapshot.state, request.entry.name));
}

}  // namespace gpuward::exporter
