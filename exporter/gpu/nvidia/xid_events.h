// The Xids that the driver reports: one event set with all GPUs registered in it. NvmlLibrary
// creates it on the worker's main thread, its event thread waits on it; the set is freed with the
// object, and the session outlives it.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/runtime/clock.h"
#include "exporter/gpu/nvidia/askable_device.h"
#include "exporter/gpu/nvidia/session.h"
#include "exporter/gpu/report/library.h"

namespace gpuward::exporter::nvml {

class XidEvents {
 public:
  // Null if the driver has no event sets.
  [[nodiscard]] static std::unique_ptr<XidEvents> make(std::shared_ptr<const Session> session);

  XidEvents(std::shared_ptr<const Session> session, EventSet set);
  XidEvents(const XidEvents&) = delete;
  XidEvents& operator=(const XidEvents&) = delete;
  ~XidEvents();

  // Main thread. Registers the devices that are not registered yet. If one refuses (a lost GPU),
  // the others are still registered, and the next call tries it again.
  void watch(const std::vector<AskableDevice>& devices, const Progress& progress);

  struct Answer {
    std::vector<GpuXid> xids;
    bool has_failed = false;  // the set is unusable: create a new one
  };
  // Event thread. Blocks for at most `limit`, then takes further pending events, up to kMaxAtOnce.
  [[nodiscard]] Answer wait(std::chrono::milliseconds limit, const Clock& clock);

  static constexpr std::size_t kMaxAtOnce = 256;

 private:
  void take(const EventData& event, const Clock& clock, Answer& answer);

  const std::shared_ptr<const Session> session_;
  const EventSet set_;
  std::mutex mutex_;
  std::map<Device, std::string> watched_;  // with its PCI bus id
};

}  // namespace gpuward::exporter::nvml
