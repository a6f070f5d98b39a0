// Where the exporter has its GPU readings from: the worker process, or a scenario file. Read by the
// GpuWatcher on its thread.
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
  kStarting,  // no answer yet
  kAnswering,
  kReleased,  // the exporter holds no GPU, because another program needs them alone
  kHung,      // it has not answered in time and was killed, or cannot be killed
  kCrashed    // it ended by itself; it will be started again
};

// What is known of the GPUs and of whoever asks them. The newest report stays while the worker is
// hung or down: `read_at` says how old it is.
struct GpuTelemetry {
  WorkerState state = WorkerState::kStarting;
  bool is_asked = true;  // false: --gpu.none, the exporter queries no driver
  // null until the first answer, and while the GPUs are released
  std::shared_ptr<const GpuReport> report;
  std::chrono::system_clock::time_point read_at;
  std::chrono::milliseconds read_duration{0};
  // Hung or crashed: what happened, in a sentence. While it answers: why there is no newer report.
  std::string fault;
  std::string hung_at;  // the last Progress before the hang: "0000:4e:00 temperature"
  std::uint64_t restarts = 0, hangs = 0;  // since the exporter started
  std::uint64_t probes = 0;               // of GPUs that hang, likewise
  // The error records are left alone: to read them has crashed the worker again and again.
  bool has_given_up_error_records = false;
};

// How often to read, and how long one reading may take.
struct GpuTimes {
  std::chrono::milliseconds interval = std::chrono::seconds(15);
  std::chrono::milliseconds timeout = std::chrono::seconds(20);
};
// As the settings in force have them; the watcher's thread.
using CurrentGpuTimes = std::function<GpuTimes()>;

class GpuSource {
 public:
  virtual ~GpuSource() = default;

  // The watcher's thread. Blocks until there is something new to tell, `limit` has passed, or a
  // stop: never longer, whatever the driver does. True where telemetry() or take_xids() has news.
  virtual bool wait(std::chrono::milliseconds limit, const std::stop_token& stop) = 0;
  [[nodiscard]] virtual GpuTelemetry telemetry() const = 0;
  // Those since the last call.
  [[nodiscard]] virtual std::vector<GpuXid> take_xids() = 0;
  // Asks for a reading now instead of at the next interval.
  virtual void hurry() = 0;
  // Any thread. Lets go of the driver: telemetry() says kReleased, without a report, once nothing
  // of it is held. `false` takes it up again.
  virtual void set_released(bool is_released) = 0;
  // Any thread. Whether it is released and holds nothing of the driver now.
  [[nodiscard]] virtual bool has_let_go() const = 0;
  // For people: "worker process, libnvidia-ml.so.1", "simulated by /etc/gpus.yaml".
  [[nodiscard]] virtual std::string describe() const = 0;
};

}  // namespace gpuward::exporter
