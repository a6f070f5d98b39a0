// Waits for news of the GPUs on its own thread and writes them into the store: readings, the
// inventory, Xids of the driver's event set, and whether the driver answers at all. A hung or
// crashed driver blocks neither this thread nor the rest of the exporter.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/model/gpu.h"
#include "core/runtime/clock.h"
#include "core/runtime/log.h"
#include "exporter/config/settings.h"
#include "exporter/gpu/report/source.h"
#include "exporter/store/store.h"
#include "exporter/watch/lost_library.h"

namespace gpuward::exporter {

class GpuWatcher {
 public:
  // Called on the watcher's thread for each new telemetry, with the future store content; the first
  // time on the constructor's thread. Must be quick. Telemetry and result enter the store together.
  // exporter.cpp passes GpuCheck::run (gpu_check.h); tests pass their own.
  using Evaluate = std::function<CheckResult(const Snapshot&)>;
  // Returns whether NVIDIA's driver is loaded now. Called on the watcher's thread for each
  // telemetry.
  using IsDriverLoaded = std::function<bool()>;

  // When it returns, the first telemetry of the source is in the store. Waits for begin() before it
  // asks the source for more. All references must outlive it; the source ends on the watcher's
  // thread.
  GpuWatcher(std::unique_ptr<GpuSource> source, Store& store, const CurrentPolicy& policy,
             Clock& clock, Log& log, Evaluate evaluate = {}, IsDriverLoaded is_driver_loaded = {});
  ~GpuWatcher();
  GpuWatcher(const GpuWatcher&) = delete;
  GpuWatcher& operator=(const GpuWatcher&) = delete;

  // Thread-safe. Allows the source to use the driver.
  void begin();
  // Thread-safe. Requests a reading now instead of at the next interval.
  void hurry() { source_->hurry(); }
  // Any thread; the same as in GpuSource.
  void set_released(bool is_released) { source_->set_released(is_released); }
  [[nodiscard]] bool has_let_go() const { return source_->has_let_go(); }

 private:
  void run(const std::stop_token& stop);
  void store_telemetry();
  void store_xids();
  void store_gpus(const GpuTelemetry& telemetry);
  void store_fault(const GpuTelemetry& telemetry);
  void say_libraries(const GpuTelemetry& telemetry);

  std::unique_ptr<GpuSource> source_;
  Store& store_;
  const CurrentPolicy& policy_;
  Clock& clock_;
  Log& log_;
  Evaluate evaluate_;
  IsDriverLoaded is_driver_loaded_;
  std::shared_ptr<const GpuReport> stored_;  // the report whose GPUs the store has
  std::optional<std::string> fault_;         // the last one that was logged
  std::string said_libraries_;               // the last ones logged
  LostLibrary lost_library_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  bool has_begun_ = false;
  std::jthread thread_;
};

}  // namespace gpuward::exporter
