// Events for findings that have come or gone: one for each reason, for any number of GPUs, and at
// most one a minute. Pure; used by NodeEvents.
#pragma once

#include <chrono>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/runtime/clock.h"
#include "exporter/store/store.h"

namespace gpuward::exporter {

struct FindingEvent {
  std::string reason;  // CamelCase: "Xid79", "EccUncorrected"
  bool has_come = false;
  std::string message;
  std::set<std::string> places;  // PCI bus ids that still have it; "" for the node as a whole
};

class FindingEvents {
 public:
  static constexpr std::chrono::minutes kShortestPause{1};  // between two of the same reason

  FindingEvents() = default;
  // Findings that already exist get no Event.
  explicit FindingEvents(const Snapshot& known);

  // Returns the Events to write, one for each reason. A finding that comes and goes within the
  // pause, or leaves one GPU of several, gets no Event; conditions and metrics show it.
  [[nodiscard]] std::vector<FindingEvent> due(const Snapshot& snapshot, Clock::Steady now);
  void mark_told(const FindingEvent& event, Clock::Steady now);
  // Returns when the first pause ends that an Event waits for; max(): none waits.
  [[nodiscard]] Clock::Steady next() const { return next_; }

 private:
  struct Told {
    std::set<std::string> places;
    std::string name;  // "xid 79"
    Clock::Steady at = Clock::Steady::min();
  };

  std::map<std::string, Told> told_;  // by reason
  Clock::Steady next_ = Clock::Steady::max();
};

// Returns `Xid79` for check xid and code 79, `EccUncorrected` for ecc_uncorrected; at most 128
// bytes.
[[nodiscard]] std::string event_reason(std::string_view check, std::string_view code);

}  // namespace gpuward::exporter
