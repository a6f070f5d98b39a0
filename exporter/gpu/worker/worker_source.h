// GPU readings of the real driver, by a worker process of this same binary: the exporter's side. A
// call that hangs or crashes in the driver takes the worker; here it becomes a state that is
// published. Read by the GpuWatcher on its thread; nothing in it blocks on the worker.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/runtime/clock.h"
#include "core/runtime/log.h"
#include "exporter/gpu/report/source.h"
#include "exporter/gpu/worker/hung_gpus.h"
#include "exporter/gpu/worker/opened_libraries.h"
#include "exporter/gpu/worker/protocol.h"
#include "exporter/gpu/worker/release_gate.h"
#include "exporter/gpu/worker/running_worker.h"
#include "exporter/gpu/worker/unreaped.h"
#include "exporter/gpu/worker/worker_duty.h"
#include "exporter/gpu/worker/worker_process.h"

namespace gpuward::exporter {

// What a worker can do without, and is not asked for any more once three in a row have crashed
// while they were at it.
struct Dispensable {
  std::string progress;           // how the progress ends that it says before it
  std::vector<std::string> argv;  // of a worker that leaves it alone
};

struct WorkerOptions {
  std::vector<std::string> argv;  // "/proc/self/exe", "gpu-worker", ...
  std::string description;        // for people: "worker process, libnvidia-ml.so.1"
  // Before a broken worker is started again; a seed of 0 comes from the system.
  BackoffPolicy restart{.first = std::chrono::seconds(1), .longest = std::chrono::seconds(60)};
  std::uint64_t seed = 0;
  std::optional<Dispensable> error_records = {};
};

class WorkerSource final : public GpuSource {
 public:
  // Clock and log must outlive it. The worker is started by the first wait() and lives at most as
  // long as the thread that calls it. SIGPIPE has to be ignored.
  WorkerSource(WorkerOptions options, CurrentGpuTimes times, Clock& clock, Log& log);
  ~WorkerSource() override;  // asks the worker to end, kills it half a second later

  bool wait(std::chrono::milliseconds limit, const std::stop_token& stop) override;
  [[nodiscard]] GpuTelemetry telemetry() const override { return telemetry_; }
  [[nodiscard]] std::vector<GpuXid> take_xids() override;
  void hurry() override;                         // any thread
  void set_released(bool is_released) override;  // any thread
  [[nodiscard]] bool has_let_go() const override { return gate_.is_done(); }
  [[nodiscard]] std::string describe() const override { return options_.description; }

 private:
  // What has come by now; `now` is from before the look, so that an answer in time counts.
  void look(Clock::Steady now);
  void listen(Clock::Steady now);
  [[nodiscard]] RunningWorker::Fault take(WorkerMessage message, Clock::Steady now);
  void take_report(GpuReport report, Clock::Steady now);
  void let_go(Clock::Steady now);
  void act(Clock::Steady now);
  void give_up(const GpuTimes& times, Clock::Steady now);
  // Ends a healthy worker, for one that reads other GPUs.
  void replace_idle(Clock::Steady now);
  void look_at_probe(Clock::Steady now);
  void start_probe(Clock::Steady now);
  void start(Clock::Steady now);
  // A worker that has crashed, or is broken.
  void retire(std::string fault, Clock::Steady now);
  // Without a word on when the next one starts.
  void drop(WorkerState state, std::string fault, Clock::Steady now);
  [[nodiscard]] Clock::Steady next_look(Clock::Steady now) const;
  void sleep_until(Clock::Steady deadline) const;

  WorkerOptions options_;
  CurrentGpuTimes times_;
  Clock& clock_;
  Log& log_;
  Wakeup wakeup_;
  std::atomic<bool> is_hurried_{false};
  ReleaseGate gate_;
  WorkerDuty duty_;
  GpuTelemetry telemetry_;
  std::vector<GpuXid> xids_;
  bool has_news_ = false;
  bool has_progress_ = false;  // the last look has met some, and no answer
  Unreaped unreaped_;
  HungGpus hung_gpus_;
  std::unique_ptr<GpuProbe> probe_;
  bool wants_replacement_ = false;
  OpenedLibraries libraries_;  // by this worker

  std::unique_ptr<RunningWorker> worker_;
  Clock::Steady asked_at_;
  std::uint64_t starts_ = 0;
  int crashes_at_error_records_ = 0;  // in a row
};

}  // namespace gpuward::exporter
