#include "exporter/pods/watcher.h"

#include <pthread.h>

#include <exception>
#include <utility>

namespace gpuward::exporter {

PodResourcesWatcher::PodResourcesWatcher(std::unique_ptr<WorkloadSource> source, Store& store,
                                         Clock& clock, Log& log, std::chrono::milliseconds interval)
    : source_(std::move(source)), store_(store), clock_(clock), log_(log), interval_(interval) {
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

PodResourcesWatcher::~PodResourcesWatcher() {
  thread_.request_stop();
  thread_.join();
}

void PodResourcesWatcher::hurry() {
  std::stop_source wake(std::nostopstate);
  {
    const std::lock_guard lock(mutex_);
    is_hurried_ = true;
    wake = wake_;
  }
  wake.request_stop();
}

void PodResourcesWatcher::run(const std::stop_token& stop) {
  pthread_setname_np(pthread_self(), "pod-resources");
  while (!stop.stop_requested()) {
    ask(stop);
    wait(stop);
  }
}

void PodResourcesWatcher::wait(const std::stop_token& stop) {
  std::stop_source wake;
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(is_hurried_, false)) return;
    wake_ = wake;
  }
  const std::stop_callback end(stop, [&wake] { wake.request_stop(); });
  clock_.sleep_for(interval_, wake.get_token());
  const std::lock_guard lock(mutex_);
  is_hurried_ = false;
}

void PodResourcesWatcher::ask(const std::stop_token& stop) try {
  auto workloads = source_->list(stop);
  if (stop.stop_requested()) return;
  report(workloads ? std::string() : workloads.error().message);
  if (!workloads) workloads = Workloads{.is_known = false, .fault = said_, .by_device = {}};
  store_.set_workloads(*std::move(workloads));
} catch (const std::exception& error) {
  report(error.what());
  store_.set_workloads({.is_known = false, .fault = said_, .by_device = {}});
}

// Logs each fault once, not every half minute.
void PodResourcesWatcher::report(const std::string& fault) {
  if (fault.empty() && !(has_answered_ && said_.empty())) {
    log_.info("Read pod-to-GPU assignments from kubelet");
  } else if (!fault.empty() && fault != said_) {
    log_.warn("Cannot read pod-to-GPU assignments from kubelet", {{"error", fault}});
  }
  has_answered_ |= fault.empty();
  said_ = fault;
}

}  // namespace gpuward::exporter
