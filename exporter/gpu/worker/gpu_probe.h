// A worker process of its own that asks one GPU that has hung, once: so that another hang there
// takes no reading of the others with it. Used by WorkerSource, on its thread.
#pragma once

#include <memory>

#include "core/runtime/clock.h"
#include "exporter/gpu/report/gpu_choice.h"
#include "exporter/gpu/worker/message_lines.h"
#include "exporter/gpu/worker/protocol.h"
#include "exporter/gpu/worker/worker_process.h"

namespace gpuward::exporter {

class GpuProbe {
 public:
  // The process has just been started to ask that GPU alone.
  GpuProbe(std::unique_ptr<WorkerProcess> process, GpuName gpu, Clock::Steady deadline);

  enum class Outcome : std::uint8_t { kWaiting, kAnswered, kSilent };
  // What has come by now. Silent: not in time, or the process has ended instead.
  [[nodiscard]] Outcome look(Clock::Steady now);

  [[nodiscard]] const GpuName& gpu() const { return gpu_; }
  [[nodiscard]] int output() const { return process_->output(); }  // to poll
  [[nodiscard]] Clock::Steady deadline() const { return deadline_; }
  // Kills the process, which may take its time.
  [[nodiscard]] std::unique_ptr<Reapable> end();

 private:
  std::unique_ptr<WorkerProcess> process_;
  GpuName gpu_;
  Clock::Steady deadline_;
  MessageLines messages_{kMostMessageBytes};
  bool has_answered_ = false;
};

}  // namespace gpuward::exporter
