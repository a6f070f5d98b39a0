// Reads the machine itself on its own thread: its instance type and the profile of that type, the
// number of GPUs on its PCI bus, the counters of its RDMA devices. A slow metadata service or a
// card that does not answer blocks no other thread.
#pragma once

#include <functional>
#include <string>
#include <thread>

#include "core/runtime/clock.h"
#include "core/runtime/log.h"
#include "exporter/config/settings.h"
#include "exporter/host/host_paths.h"
#include "exporter/host/instance_type.h"
#include "exporter/store/store.h"

namespace gpuward::exporter {

class HostWatcher {
 public:
  // Called on the watcher's thread with the type of the settings (empty: detect it). May take
  // seconds.
  using AskInstanceType = std::function<InstanceType(const std::string& configured)>;

  // All references must outlive it.
  HostWatcher(HostPaths host, AskInstanceType ask, Store& store, const CurrentPolicy& policy,
              Clock& clock, Log& log);
  ~HostWatcher();
  HostWatcher(const HostWatcher&) = delete;
  HostWatcher& operator=(const HostWatcher&) = delete;

 private:
  void run(const std::stop_token& stop);
  void look();
  void publish(const CheckSettings& settings);
  void find_type(const CheckSettings& settings);
  // Returns the detected type, or one that an exporter of this boot detected before.
  [[nodiscard]] InstanceType known_type() const;

  HostPaths host_;
  AskInstanceType ask_;
  Store& store_;
  const CurrentPolicy& policy_;
  Clock& clock_;
  Log& log_;
  InstanceType type_;
  std::string configured_;  // when the type was detected
  std::optional<Clock::Steady> asked_;
  std::jthread thread_;
};

}  // namespace gpuward::exporter
