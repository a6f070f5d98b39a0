#include "exporter/watch/gpu_look.h"

#include "exporter/gpu/worker/worker_duty.h"

namespace gpuward::exporter {
namespace {

// Beyond the time that the first reading of the driver may take, so that a hang is still told of.
constexpr std::chrono::milliseconds kToStartWorker{5'000};
constexpr std::chrono::milliseconds kBetweenLooks{50};

}  // namespace

GpuTelemetry look_at_gpus(GpuSource& source, std::chrono::milliseconds timeout, Clock& clock,
                          const std::stop_token& stop) {
  const auto deadline = clock.steady() + WorkerDuty::kFirstReadingFactor * timeout + kToStartWorker;
  for (;;) {
    GpuTelemetry telemetry = source.telemetry();
    if (telemetry.state != WorkerState::kStarting || clock.steady() >= deadline ||
        stop.stop_requested())
      return telemetry;
    source.wait(kBetweenLooks, stop);
  }
}

}  // namespace gpuward::exporter
