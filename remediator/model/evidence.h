// How what a source says about a node changes what is remembered of it. Pure: an Alertmanager
// repeats itself, its peers say the same again and in another order; none of that may change
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
  WallTime ends_at;      // of a resolved one
  bool foreign = false;  // node and severity are the policy's words for it (foreign_alerts)
  bool absent = false;   // an end: its source no longer lists it
  std::string error_class = {};
  // It is older than the Node, and what it says was measured on the machine that has the name now.
  bool is_of_this_machine = false;
  std::string advice = {};  // of a language model, for people
  bool drill = false;       // of an injected fault
};

// Why an alert changed nothing although it is not known as it is.
enum class Ignored : std::uint8_t {
  kNoSuchNode,      // no node of that name is known
  kOlderThanNode,   // it fires since before the node joined
  kLateRepeat,      // a late copy of an alert whose end is known, or that an operator has cancelled
  kNothingToEnd,    // an end, and nothing is open that it could end
  kEarlierEpisode,  // the end of an earlier episode of an alert that has started anew since
  kStillActive,     // an end that Alertmanager itself does not confirm
  kNoRoom,          // more alerts of the node fire than are kept: the mildest gave way
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
  bool displaced = false;               // a milder alert that fires gave way to it

  friend bool operator==(const Folded& folded, Change what) { return folded.change == what; }
};

// What the fingerprints of alerts read from Prometheus' own series begin with. The rest is what an
// Alertmanager calls the same alert: what comes by both ways is one.
inline constexpr std::string_view kPrometheusOrigin = "prometheus.";
// Those of events of the monitor that gpuward replaces. It says of no event that it is over: each
// repeat is a later start (sources/monitor_event).
inline constexpr std::string_view kMonitorEventOrigin = "event.";
[[nodiscard]] std::string_view without_origin(std::string_view fingerprint);

// Evidence a Remediation keeps at most. The oldest that ended give way, then the mildest that fires
// gives way to a worse one; `Remediation::dropped` says that something that fired is not kept.
inline constexpr std::size_t kMaxEvidence = 64;
// How often it is written down again that something is dropped still.
inline constexpr std::chrono::minutes kDroppedAgain{10};

// Folds `signal` into `remediation`: new alerts are added, a resolved one gets its end, severity
// rises and never falls. A drill adds nothing to the severity of what is real, no alert gives way
// to one, and it gives way to each that is real; with the first of these what the drills had raised
// is gone. A repeat changes nothing, unless it has started later than was known.
//
// Which end is believed:
// - An end before the known start is of an earlier episode: nothing ends. All times of an alert are
//   its source's, so that clocks that differ do not matter; a start is not compared, because
//   Alertmanager merges the starts of two Prometheus servers to the earlier one.
// - An end by absence (`absent`) ends only the episode that began at `starts_at`, and no later one:
//   both starts are those that a record of ours has.
// - Where the known start is further in the future than kWrongClock, the start is wrong and not the
//   end: the alert ends now.
// - An end in the future, or none at all (the zero time), is as good as our own clock: it ends now.
Folded fold(Remediation& remediation, const AlertSignal& signal, WallTime now);

// Beyond this a start is not of a fresh alert but of a wrong clock.
inline constexpr std::chrono::hours kWrongClock{1};

// How long after an alert's end a copy of its firing may still be on its way, from an
// Alertmanager's peer or out of a retry. One with the same start that comes later is no copy: of
// two Prometheus servers one has ended the alert and the other has not.
inline constexpr std::chrono::minutes kLateRepeats{5};

// Whether the alert of `signal` has begun after the one that is known. Versions before kept
// milliseconds: a known start without anything below them is compared as they were.
[[nodiscard]] bool has_started_anew(const AlertSignal& signal, const AlertEvidence& known);

// Whether it is the alert that is known: same fingerprint, whichever way it came, not started anew.
[[nodiscard]] bool is_same_episode(const AlertSignal& signal, const AlertEvidence& known);

// Whether a firing `signal` is only a late repeat of an alert that one of the `closed` Remediations
// has just seen end. Of a Remediation that an operator has cancelled, every alert that has not
// started anew is one.
[[nodiscard]] bool is_late_repeat(const AlertSignal& signal, std::span<const Remediation> closed,
                                  WallTime now);

}  // namespace gpuward::remediator
