// How a report from a source changes what is recorded about a node. Pure. An Alertmanager repeats
// itself, and its peers send the same alerts again in another order; none of that may change
// anything.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/model/severity.h"
#include "remediator/model/remediation.h"

namespace gpuward::remediator {

// One alert that names a node and a remediation. `node` has passed kube::validate_node_name.
struct AlertSignal {
  std::string node;
  Severity severity = Severity::kNone;
  std::string alertname;
  std::string fingerprint;
  bool firing = true;
  WallTime starts_at;
  WallTime ends_at;      // end time of a resolved alert
  bool foreign = false;  // the policy derives node and severity (foreign_alerts)
  bool absent = false;   // an end: its source no longer lists it
  std::string error_class = {};
  // The alert is older than the Node, but was measured on the machine that has the name now.
  bool is_of_this_machine = false;
  std::string advice = {};  // from a language model, for people
  bool drill = false;       // from an injected fault
};

// Why an alert changed nothing although it is not a plain repeat.
enum class Ignored : std::uint8_t {
  kNoSuchNode,      // the cluster has no node of that name
  kOlderThanNode,   // it has fired since before the node joined
  kLateRepeat,      // a late copy of an alert that has ended, or that an operator has cancelled
  kNothingToEnd,    // an end, but no open Remediation has the alert
  kEarlierEpisode,  // the end of an earlier episode; the alert has fired again since
  kStillActive,     // an end that Alertmanager itself does not confirm
  kNoRoom,          // more alerts of the node fire than are kept: the mildest was dropped
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

enum class Change : std::uint8_t {
  kNone,  // known already: nothing is written
  kSome,  // the Remediation has changed: it must be written
};

struct Folded {
  Change change = Change::kNone;
  std::optional<Ignored> ignored = {};  // the alert itself is not kept, and why
  bool displaced = false;               // a milder firing alert was dropped for it

  friend bool operator==(const Folded& folded, Change what) { return folded.change == what; }
};

// Prefix of the fingerprints of alerts read from Prometheus' own series. The rest is the
// fingerprint that an Alertmanager gives the same alert, so an alert that arrives both ways is one.
inline constexpr std::string_view kPrometheusOrigin = "prometheus.";
// Prefix for events of the monitor that gpuward replaces. It never reports that an event is over:
// each repeat is a later start (sources/monitor_event).
inline constexpr std::string_view kMonitorEventOrigin = "event.";
[[nodiscard]] std::string_view without_origin(std::string_view fingerprint);

// The most evidence that a Remediation keeps. The oldest ended alert is dropped first, then the
// mildest firing alert for a worse one; `Remediation::dropped` records that a firing alert was
// dropped.
inline constexpr std::size_t kMaxEvidence = 64;
// How often the record of dropped alerts is refreshed.
inline constexpr std::chrono::minutes kDroppedAgain{10};

// Folds `signal` into `remediation`: adds new alerts, sets the end of a resolved one, and raises
// the severity, which never falls. A drill adds nothing to the severity of real evidence. No alert
// is dropped for a drill, and drills are dropped for real alerts; the first real alert removes what
// drills had raised. A repeat changes nothing, unless it started later than the recorded start.
//
// Which end is believed:
// - An end before the recorded start belongs to an earlier episode and is ignored. All times of an
//   alert come from its source, so differing clocks do not matter. Starts are not compared, because
//   Alertmanager merges the starts of two Prometheus servers to the earlier one.
// - An end by absence (`absent`) ends only the episode that began at `starts_at`, and no later one:
//   both starts come from a record of gpuward.
// - If the recorded start is further in the future than kWrongClock, the start is wrong and not the
//   end: the alert ends now.
// - If the end is in the future or missing (the zero time), the alert ends now by our own clock.
Folded fold(Remediation& remediation, const AlertSignal& signal, WallTime now);

// A start further in the future than this comes from a wrong clock.
inline constexpr std::chrono::hours kWrongClock{1};

// How long after an alert's end a copy of its firing may still arrive, from an Alertmanager's peer
// or a retry. A later alert with the same start is not a copy: one of two Prometheus servers has
// ended the alert and the other has not.
inline constexpr std::chrono::minutes kLateRepeats{5};

// Whether the alert of `signal` started after the recorded one. Earlier versions recorded
// milliseconds: if the recorded start has nothing below them, both are compared in milliseconds.
[[nodiscard]] bool has_started_anew(const AlertSignal& signal, const AlertEvidence& known);

// Whether both are the same episode: the same fingerprint without its origin, and no later start.
[[nodiscard]] bool is_same_episode(const AlertSignal& signal, const AlertEvidence& known);

// Whether a firing `signal` only repeats, late, an alert that has just ended in one of the `closed`
// Remediations. For a Remediation that an operator has cancelled, every alert without a later start
// counts as a repeat.
[[nodiscard]] bool is_late_repeat(const AlertSignal& signal, std::span<const Remediation> closed,
                                  WallTime now);

}  // namespace gpuward::remediator
