// The notifications that Alertmanager sends for a history of alerts: grouping, waiting, inhibition,
// and the log that prevents duplicates (dispatch/, inhibit/ and notify/ of Alertmanager 0.25).
// notifications_test.cpp compares it with a real one.
#pragma once

#include <cstddef>
#include <set>

#include "tests/alerts/month/routes.h"

namespace gpuward::alerts {

enum class Why : std::uint8_t {
  kNew,       // an alert fires that the receiver does not know yet
  kResolved,  // one or all of them have ended
  kRepeat,    // `repeat_interval` has passed
};

struct Notification {
  seconds at{};
  std::string receiver;
  Labels group;
  Why why = Why::kNew;
  std::set<std::size_t> firing{}, resolved{};  // indexes of alerts
  std::set<std::size_t> added{};  // the firing ones that the notification before did not have
};

// In order of time.
[[nodiscard]] std::vector<Notification> notifications(const Routing& routing,
                                                      const std::vector<AlertHistory>& alerts);

}  // namespace gpuward::alerts
