#include "exporter/publish/node/node_events.h"

namespace gpuward::exporter {

std::chrono::milliseconds NodeEvents::tell(const Snapshot& snapshot, const std::string& uid,
                                           std::chrono::milliseconds longest) {
  const Clock::Steady now = clock_.steady();
  const auto until = [&](Clock::Steady time) {
    return std::min(longest, std::chrono::ceil<std::chrono::milliseconds>(time - now));
  };
  if (now < not_before_) return until(not_before_);
  for (const FindingEvent& event : events_.due(snapshot, now)) {
    const Status told = api_.create_event({.node = node_,
                                           .node_uid = uid,
                                           .warning = event.has_come,
                                           .reason = event.reason,
                                           .message = event.message,
                                           .component = "gpuward-exporter"});
    if (!told) {
      if (told.error().message != complaint_)
        log_.warn(
            "Failed to write Event, retrying in a minute",
            {{"error", told.error().message},
             {"hint", "grant create on events in namespace default, or set node.events: false"}});
      complaint_ = told.error().message;
      not_before_ = now + FindingEvents::kShortestPause;
      return until(not_before_);
    }
    complaint_.clear();
    events_.mark_told(event, now);
  }
  return until(events_.next());
}

}  // namespace gpuward::exporter
