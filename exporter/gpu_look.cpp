#include "exporter/gpu_look.h"

namespace gpuward::exporter {
namespace {

// Beyond the time that one reading of the driver may take.
constexpr std::chrono::milliseconds kToStartWorker{5'000};
constexpr std::chrono::milliseconds kBetweenLooks{50};

}  // namespace

GpuTelemetry look_at_gpus(GpuSource& source, std::chrono::milliseconds timeout, Clock& clock,
                          const std::stop_token& stop) {
  const auto deadline = clock.steady() + timeout + kToStartWorker;
  for (;;) {
    GpuTelemetry telemetry = source.telemetry();
    if (telemetry.state != WorkerState::kStarting || clock.steady() >= deadline ||
        stop.stop_requested())
      return telemetry;
    source.wait(kBetweenLooks, stop);
  }
}

}  // namespace gpuward::exporter
