// What Alertmanager sends of a history of alerts: grouping, waiting, inhibition, and the log that
// keeps it from sending the same twice (dispatch/, inhibit/ and notify/ of Alertmanager 0.25).
// notifications_test.cpp holds it against a real one.
#pragma once

#include <cstddef>
#include <set>

#include "tests/alerts/month/routes.h"

namespace gpuward::alerts {

enum class Why : std::uint8_t {
  kNew,       // an alert fires that the receiver has not been told of
  kResolved,  // one or all of them have ended
  kRepeat,    // `repeat_interval` has passed
};

struct Notification {
  seconds at{};
  std::string receiver;
  Labels group;
  Why why = Why::kNew;
  std::set<std::size_t> firing{}, resolved{};  // indexes of alerts
  std::set<std::size_t> added{};               // of those that fire: not in the notification before
};

// In the order of their time.
[[nodiscard]] std::vector<Notification> notifications(const Routing& routing,
                                                      const std::vector<AlertHistory>& alerts);

}  // namespace gpuward::alerts
