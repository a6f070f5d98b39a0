// The scenario file of --gpu.simulate instead of a driver. It is read at the start, at each
// interval and after hurry(). If the file is broken, the error is reported and the last good report
// stays.
#pragma once

#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>

#include "core/model/result.h"
#include "core/runtime/clock.h"
#include "exporter/gpu/report/source.h"

namespace gpuward::exporter {

class SimulatedSource final : public GpuSource {
 public:
  // kInvalid or kNotFound if the file is unusable at the start. The clock must outlive it.
  [[nodiscard]] static Result<std::unique_ptr<SimulatedSource>> open(std::filesystem::path path,
                                                                     CurrentGpuTimes times,
                                                                     Clock& clock);

  bool wait(std::chrono::milliseconds limit, const std::stop_token& stop) override;
  [[nodiscard]] GpuTelemetry telemetry() const override { return telemetry_; }
  [[nodiscard]] std::vector<GpuXid> take_xids() override { return {}; }
  void hurry() override;                         // any thread
  void set_released(bool is_released) override;  // any thread
  [[nodiscard]] bool has_let_go() const override;
  [[nodiscard]] std::string describe() const override { return "simulated by " + path_.string(); }

 private:
  SimulatedSource(std::filesystem::path path, CurrentGpuTimes times, Clock& clock)
      : path_(std::move(path)), times_(std::move(times)), clock_(clock) {}
  [[nodiscard]] Status read();

  std::filesystem::path path_;
  CurrentGpuTimes times_;
  Clock& clock_;
  GpuTelemetry telemetry_;
  Clock::Steady last_read_;
  mutable std::mutex mutex_;
  std::condition_variable_any hurried_;
  bool is_hurried_ = false;
  bool is_released_ = false;
};

}  // namespace gpuward::exporter
