// How a report from a source changes the record of a node. An Alertmanager repeats its alerts, and
// its peers send the same alerts in another order; repeats must not change the record. Pure.
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
  WallTime ends_at;      // End time of a resolved alert.
  bool foreign = false;  // The policy derived node and severity (foreign_alerts).
  bool absent = false;   // An end because the source no longer lists the alert.
  std::string error_class = {};
  // The alert is older than the Node, but was measured on the machine that has the name now.
  bool is_of_this_machine = false;
  std::string advice = {};  // Advice of a language model, for people.
  bool drill = false;       // The alert comes from an injected fault.
};

// Why an alert changed nothing although it is not a plain repeat.
enum class Ignored : std::uint8_t {
  kNoSuchNode,      // The cluster has no node of that name.
  kOlderThanNode,   // The alert has fired since before the node joined.
  kLateRepeat,      // A late copy of an alert that has ended, or that an operator has cancelled.
  kNothingToEnd,    // An end, but no open Remediation has the alert.
  kEarlierEpisode,  // The end of an earlier episode; the alert has fired again since.
  kStillActive,     // An end that Alertmanager does not confirm.
  // More alerts of the node fire than a Remediation keeps, and this alert was the mildest.
  kNoRoom,
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
  kNone,  // The record has this already; no write is needed.
  kSome,  // The Remediation has changed and must be written.
};

struct Folded {
  Change change = Change::kNone;
  std::optional<Ignored> ignored = {};  // Why the alert itself was not kept.
  bool displaced = false;               // A milder firing alert was dropped to make room.

  friend bool operator==(const Folded& folded, Change what) { return folded.change == what; }
};

// Prefix of the fingerprints of alerts read from Prometheus' own series. The rest is the
// fingerprint that an Alertmanager gives the same alert, so an alert from both sources counts once.
inline constexpr std::string_view kPrometheusOrigin = "prometheus.";
// Prefix for events of the monitor that gpuward replaces. The monitor never reports the end of an
// event, and each repeat is a later start (inbox/sources/monitor_event).
inline constexpr std::string_view kMonitorEventOrigin = "event.";
[[nodiscard]] std::string_view without_origin(std::string_view fingerprint);

// Limit for the evidence of a Remediation. fold() first drops the oldest ended alert, then the
// mildest firing alert if a worse one comes. `Remediation::dropped` records that a firing alert was
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

// How long after an alert's end a firing copy may still arrive, from an Alertmanager's peer or a
// retry. A later alert with the same start is not a copy: it means that one of two Prometheus
// servers has ended the alert and the other has not.
inline constexpr std::chrono::minutes kLateRepeats{5};

// Returns whether the alert of `signal` started after the recorded alert. Earlier versions recorded
// milliseconds. If the recorded start has no smaller unit, both starts are compared in
// milliseconds.
[[nodiscard]] bool has_started_anew(const AlertSignal& signal, const AlertEvidence& known);

// Returns whether both are the same episode: equal fingerprints without the origin, and no later
// start.
[[nodiscard]] bool is_same_episode(const AlertSignal& signal, const AlertEvidence& known);

// Returns whether a firing `signal` is only a late repeat of an alert that has just ended in one of
// the `closed` Remediations. For a Remediation that an operator has cancelled, every alert without
// a later start counts as a repeat.
[[nodiscard]] bool is_late_repeat(const AlertSignal& signal, std::span<const Remediation> closed,
                                  WallTime now);

}  // namespace gpuward::remediator
