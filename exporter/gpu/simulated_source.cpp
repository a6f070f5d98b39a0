#include "exporter/gpu/simulated_source.h"

#include <algorithm>
#include <utility>

#include "exporter/gpu/scenario.h"

namespace gpuward::exporter {

Result<std::unique_ptr<SimulatedSource>> SimulatedSource::open(std::filesystem::path path,
                                                               CurrentGpuTimes times,
                                                               Clock& clock) {
  std::unique_ptr<SimulatedSource> source(
      new SimulatedSource(std::move(path), std::move(times), clock));
  if (auto status = source->read(); !status) return std::unexpected(status.error());
  return source;
}

Status SimulatedSource::read() {
  const auto start = last_read_ = clock_.steady();
  auto report = read_scenario(path_);
  telemetry_.state = WorkerState::kAnswering;
  telemetry_.fault = report ? std::string() : report.error().message;
  if (!report) return std::unexpected(report.error());
  telemetry_.report = std::make_shared<const GpuReport>(*std::move(report));
  telemetry_.read_at = clock_.wall();
  telemetry_.read_duration =
      std::chrono::duration_cast<std::chrono::milliseconds>(clock_.steady() - start);
  return {};
}

bool SimulatedSource::wait(std::chrono::milliseconds limit, const std::stop_token& stop) {
  const auto next = last_read_ + times_().interval;
  const auto until_next =
      std::chrono::ceil<std::chrono::milliseconds>(std::max(next - clock_.steady(), {}));
  {
    std::unique_lock lock(mutex_);
    const auto longest = is_released_ ? limit : std::min(limit, until_next);
    hurried_.wait_for(lock, stop, longest, [&] { return is_hurried_; });
    if (stop.stop_requested() || (!is_hurried_ && (is_released_ || clock_.steady() < next)))
      return false;
    is_hurried_ = false;
    if (is_released_) {
      telemetry_.state = WorkerState::kReleased;
      telemetry_.report.reset();
      return true;
    }
  }
  (void)read();  // telemetry() has the error
  return true;
}

void SimulatedSource::hurry() {
  const std::lock_guard lock(mutex_);
  is_hurried_ = true;
  hurried_.notify_all();
}

bool SimulatedSource::has_let_go() const {
  const std::lock_guard lock(mutex_);
  return is_released_;
}

void SimulatedSource::set_released(bool is_released) {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(is_released_, is_released) == is_released) return;
  }
  hurry();
}

}  // namespace gpuward::exporter
