#include "exporter/gpu/nvidia/xid_events.h"

#include <utility>

#include "exporter/gpu/nvidia/sentinel.h"

namespace gpuward::exporter::nvml {

std::unique_ptr<XidEvents> XidEvents::make(std::shared_ptr<const Session> session) {
  EventSet set = nullptr;
  if (session->symbols().event_set_create(&set) != kSuccess) return nullptr;
  return std::make_unique<XidEvents>(std::move(session), set);
}

XidEvents::XidEvents(std::shared_ptr<const Session> session, EventSet set)
    : session_(std::move(session)), set_(set) {}

XidEvents::~XidEvents() { session_->symbols().event_set_free(set_); }

void XidEvents::watch(const std::vector<AskableDevice>& devices, const Progress& progress) {
  for (const AskableDevice& device : devices) {
    {
      const std::lock_guard lock(mutex_);
      if (watched_.contains(device.device)) continue;
    }
    progress(device.pci_bus_id + " events");
    if (session_->symbols().register_events(device.device, kEventXid, set_) != kSuccess) continue;
    const std::lock_guard lock(mutex_);
    watched_.emplace(device.device, device.pci_bus_id);
  }
}

void XidEvents::take(const EventData& event, const Clock& clock, Answer& answer) {
  if (event.type != kEventXid || event.data == 0 || event.data == kUnknownXid) return;
  const std::lock_guard lock(mutex_);
  const auto device = watched_.find(event.device);
  if (device == watched_.end()) return;
  GpuXid xid;
  xid.pci_bus_id = device->second;
  xid.code = static_cast<std::uint32_t>(event.data);
  xid.seen = clock.wall();
  xid.gpu_instance = number_from(event.gpu_instance);
  xid.compute_instance = number_from(event.compute_instance);
  answer.xids.push_back(std::move(xid));
}

XidEvents::Answer XidEvents::wait(std::chrono::milliseconds limit, const Clock& clock) {
  Answer answer;
  auto left = static_cast<std::uint32_t>(limit.count());
  for (std::size_t taken = 0; taken < kMaxAtOnce; ++taken) {
    EventData event{};
    const ReturnCode code = session_->symbols().event_set_wait(set_, &event, left);
    if (code != kSuccess) {
      answer.has_failed = code != kTimeout;
      return answer;
    }
    take(event, clock, answer);
    left = 0;  // from now on only pending events
  }
  return answer;
}

}  // namespace gpuward::exporter::nvml
