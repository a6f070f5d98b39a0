// The source of the exporter's GPU readings: the worker process, or a scenario file. The GpuWatcher
// reads it on its thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "exporter/gpu/report/reading.h"

namespace gpuward::exporter {

enum class WorkerState : std::uint8_t {
  kStarting,  // no response yet
  kAnswering,
  kReleased,  // the exporter holds no GPU, because another program needs exclusive access
  kHung,      // it has not responded in time and was killed, or cannot be killed
  kCrashed    // it ended by itself; it will be restarted
};

// The state of the GPUs and of the process that reads them. The newest report stays while the
// worker is hung or down: `read_at` shows its age.
struct GpuTelemetry {
  WorkerState state = WorkerState::kStarting;
  bool is_asked = true;  // false: --gpu.none, the exporter queries no driver
  // null until the first answer, and while the GPUs are released
  std::shared_ptr<const GpuReport> report;
  std::chrono::system_clock::time_point read_at;
  std::chrono::milliseconds read_duration{0};
  // Hung or crashed: the event, in a sentence. While it responds: why there is no newer report.
  std::string fault;
  std::string hung_at;  // the last Progress before the hang: "0000:4e:00 temperature"
  std::uint64_t restarts = 0, hangs = 0;  // since the exporter started
  std::uint64_t probes = 0;               // of hung GPUs, since the exporter started
  // Error records are no longer read: reading them has crashed the worker repeatedly.
  bool has_given_up_error_records = false;
};

// The interval between readings, and the longest duration of one.
struct GpuTimes {
  std::chrono::milliseconds interval = std::chrono::seconds(15);
  std::chrono::milliseconds timeout = std::chrono::seconds(20);
};
// Returns the current settings; called on the watcher's thread.
using CurrentGpuTimes = std::function<GpuTimes()>;

class GpuSource {
 public:
  virtual ~GpuSource() = default;

  // The watcher's thread. Blocks until there is news, `limit` has passed, or a stop; never longer,
  // even if the driver hangs. True if telemetry() or take_xids() has news.
  virtual bool wait(std::chrono::milliseconds limit, const std::stop_token& stop) = 0;
  [[nodiscard]] virtual GpuTelemetry telemetry() const = 0;
  // Returns the Xids since the last call.
  [[nodiscard]] virtual std::vector<GpuXid> take_xids() = 0;
  // Requests a reading now instead of at the next interval.
  virtual void hurry() = 0;
  // Thread-safe. Releases the driver: telemetry() reports kReleased, without a report, once nothing
  // of it is held. `false` resumes the readings.
  virtual void set_released(bool is_released) = 0;
  // Thread-safe. Whether it is released and holds nothing of the driver now.
  [[nodiscard]] virtual bool has_let_go() const = 0;
  // For operators: "worker process, libnvidia-ml.so.1", "simulated by /etc/gpus.yaml".
  [[nodiscard]] virtual std::string describe() const = 0;
};

}  // namespace gpuward::exporter
