// GPU readings of the real driver, by a worker process of this same binary: the exporter's side. A
// hang or crash in the driver affects only the worker and is published as a state. The GpuWatcher
// reads it on its thread; nothing in it blocks on the worker.
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

// A part that a worker can do without. It is dropped after three workers in a row have crashed in
// it.
struct Dispensable {
  std::string progress;           // the end of the progress text before the part
  std::vector<std::string> argv;  // of a worker that skips the part
};

struct WorkerOptions {
  std::vector<std::string> argv;  // "/proc/self/exe", "gpu-worker", ...
  std::string description;        // for operators: "worker process, libnvidia-ml.so.1"
  // The waits before a broken worker is restarted; a seed of 0 comes from the system.
  BackoffPolicy restart{.first = std::chrono::seconds(1), .longest = std::chrono::seconds(60)};
  std::uint64_t seed = 0;
  std::optional<Dispensable> error_records = {};
};

class WorkerSource final : public GpuSource {
 public:
  // Clock and log must outlive it. The first wait() starts the worker, which lives at most as long
  // as the thread that calls wait(). SIGPIPE must be ignored.
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
  // Handles all input so far; `now` is from before the call, so that a response in time counts.
  void look(Clock::Steady now);
  void listen(Clock::Steady now);
  [[nodiscard]] RunningWorker::Fault take(WorkerMessage message, Clock::Steady now);
  void take_report(GpuReport report, Clock::Steady now);
  void let_go(Clock::Steady now);
  void act(Clock::Steady now);
  void give_up(const GpuTimes& times, Clock::Steady now);
  // Ends a healthy worker, to start one that reads other GPUs.
  void replace_idle(Clock::Steady now);
  void look_at_probe(Clock::Steady now);
  void start_probe(Clock::Steady now);
  void start(Clock::Steady now);
  // Ends a worker that has crashed or is broken.
  void retire(std::string fault, Clock::Steady now);
  // Ends a worker without scheduling the next one.
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
  bool has_progress_ = false;  // the last check found some, and no response
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
