// Where sources hand over their orders. The workflow makes them durable
// (workflow/remediation_intake); tests put a list behind it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/model/result.h"
#include "core/runtime/clock.h"
#include "remediator/policy/evidence.h"

namespace gpuward::remediator {

// Why an alert changed nothing although it is not known as it is.
enum class Ignored : std::uint8_t {
  kNoSuchNode,      // no node of that name is known
  kOlderThanNode,   // it fires since before the node joined
  kLateRepeat,      // a late copy of an alert whose end is known, or that an operator has cancelled
  kNothingToEnd,    // an end, and nothing is open that it could end
  kEarlierEpisode,  // the end of an earlier episode of an alert that has started anew since
  kStillActive,     // an end that Alertmanager itself denies: there the alert is active
  kNoRoom,          // as many alerts of the node fire as are kept, and none is milder
};

inline constexpr std::array kAllIgnored = {
    Ignored::kNoSuchNode,     Ignored::kOlderThanNode, Ignored::kLateRepeat, Ignored::kNothingToEnd,
    Ignored::kEarlierEpisode, Ignored::kStillActive,   Ignored::kNoRoom};

[[nodiscard]] constexpr std::string_view to_string(Ignored reason) {
  constexpr std::array<std::string_view, kAllIgnored.size()> kWords = {
      "no_such_node",    "older_than_node", "late_repeat", "nothing_to_end",
      "earlier_episode", "still_active",    "no_room"};
  return kWords[static_cast<std::size_t>(reason)];
}

struct IntakeCounts {
  std::size_t accepted = 0;   // new, and durable now
  std::size_t duplicate = 0;  // known already: nothing was written
  std::size_t ignored = 0;    // see Ignored
};

// Hears of the alerts that were ignored, for logs and metrics.
class IntakeObserver {
 public:
  virtual ~IntakeObserver() = default;
  // Any thread, several at once; must be quick. Called for each copy that was ignored.
  virtual void on_ignored(const Order& order, Ignored reason) = 0;
};

class Intake {
 public:
  virtual ~Intake() = default;
  // Any thread; several at once. A value means that all of `orders` is in the API server. An error
  // (kUnavailable, kOverloaded, kTimeout) means that some may not be: the sender must come again.
  [[nodiscard]] virtual Result<IntakeCounts> take(std::span<const Order> orders,
                                                  Clock::Steady deadline) = 0;
};

}  // namespace gpuward::remediator
