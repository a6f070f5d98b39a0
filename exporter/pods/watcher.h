// Keeps the users of each GPU in the store: asks the kubelet every half minute and on demand, on a
// separate thread. While the kubelet does not respond, no users are known, because an old list
// would blame the wrong pod. Made by the composition root.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

#include "core/runtime/clock.h"
#include "core/runtime/log.h"
#include "exporter/pods/kubelet.h"
#include "exporter/store/store.h"

namespace gpuward::exporter {

class PodResourcesWatcher {
 public:
  static constexpr std::chrono::milliseconds kInterval{30'000};

  // Asks at once, then every `interval`. Store, clock and log must outlive it.
  PodResourcesWatcher(std::unique_ptr<WorkloadSource> source, Store& store, Clock& clock, Log& log,
                      std::chrono::milliseconds interval = kInterval);
  // Returns within 100 ms, also during a request.
  ~PodResourcesWatcher();
  PodResourcesWatcher(const PodResourcesWatcher&) = delete;
  PodResourcesWatcher& operator=(const PodResourcesWatcher&) = delete;

  // Any thread; returns at once. Starts a request as soon as possible.
  void hurry();

 private:
  void run(const std::stop_token& stop);
  void ask(const std::stop_token& stop);
  void report(const std::string& fault);
  void wait(const std::stop_token& stop);

  std::unique_ptr<WorkloadSource> source_;
  Store& store_;
  Clock& clock_;
  Log& log_;
  const std::chrono::milliseconds interval_;
  std::string said_;  // the last fault that was logged; empty: none
  bool has_answered_ = false;
  std::mutex mutex_;
  std::stop_source wake_;  // of the wait; guarded by mutex_
  bool is_hurried_ = false;
  std::jthread thread_;
};

}  // namespace gpuward::exporter
