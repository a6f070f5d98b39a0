// Looks at the machine itself on a thread of its own: which instance type it is and what such a one
// must have, how many GPUs its PCI bus lists, what its RDMA devices count. A slow metadata service
// or a card that does not answer holds up nobody else.
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
  // Called on the watcher's thread, with what the settings say (empty: ask). May take seconds.
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
  // The type that was found, or else what an exporter of this boot has found before.
  [[nodiscard]] InstanceType known_type() const;

  HostPaths host_;
  AskInstanceType ask_;
  Store& store_;
  const CurrentPolicy& policy_;
  Clock& clock_;
  Log& log_;
  InstanceType type_;
  std::string configured_;  // as it was when the type was found
  std::optional<Clock::Steady> asked_;
  std::jthread thread_;
};

}  // namespace gpuward::exporter
