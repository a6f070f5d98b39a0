// Waits for news of the GPUs on a thread of its own and writes them into the store: readings, the
// inventory, Xids of the driver's event set, and whether the driver answers at all. Whatever the
// driver does, this thread and the rest of the exporter go on.
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
  // The watcher's thread, at each news of the telemetry, with the store as it will be; the first
  // time the thread of the constructor. Must be quick. Telemetry and result enter the store as one.
  // GpuCheck::run (gpu_check.h), put here by exporter.cpp; tests put their own.
  using Evaluate = std::function<CheckResult(const Snapshot&)>;
  // Whether the kernel has NVIDIA's driver now. Asked on the watcher's thread with each telemetry.
  using IsDriverLoaded = std::function<bool()>;

  // The first telemetry of the source is in the store when this returns. Waits for begin() before
  // it asks the source for more. All references must outlive it; the source ends on the watcher's
  // thread.
  GpuWatcher(std::unique_ptr<GpuSource> source, Store& store, const CurrentPolicy& policy,
             Clock& clock, Log& log, Evaluate evaluate = {}, IsDriverLoaded is_driver_loaded = {});
  ~GpuWatcher();
  GpuWatcher(const GpuWatcher&) = delete;
  GpuWatcher& operator=(const GpuWatcher&) = delete;

  // Any thread. The source may use the driver from now on.
  void begin();
  // Any thread. A reading now instead of at the next interval.
  void hurry() { source_->hurry(); }
  // Any thread; as those of GpuSource.
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
  std::shared_ptr<const GpuReport> stored_;  // whose GPUs the store has
  std::optional<std::string> fault_;         // the last one that was logged
  std::string said_libraries_;               // likewise
  LostLibrary lost_library_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  bool has_begun_ = false;
  std::jthread thread_;
};

}  // namespace gpuward::exporter
