// The use of the budgets as one value: who holds a slot, which disruptions began when, the circuit
// breaker, and how often each machine was treated. It is stored in one ConfigMap
// (budgets/ledger_store), so that a restart, garbage collection or `kubectl delete remediation`
// forgets nothing. Pure functions from ledger to ledger; each may be applied twice, because a
// caller repeats it after a lost answer.
//
// Time is the wall clock's, which may jump. An entry from the future (the clock went back, or
// another replica's is ahead) is inside every window until its time and the window have passed: it
// is unknown which clock is right, so the stricter one counts. After a jump forward, windows end
// too early, but nothing is forgotten before the longest window and one day have passed: when the
// clock comes back, they bind again.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "remediator/model/place.h"
#include "remediator/model/remediation.h"
#include "remediator/policy/budget_limits.h"

namespace gpuward::remediator {

// The impact that a slot permits; a later one includes those before it.
enum class Impact : std::uint8_t {
  kTaint,
  kCordon,
  kDisrupt,  // drain, reset, reboot
  kTerminate,
};
[[nodiscard]] std::string_view to_string(Impact impact);  // "taint", "cordon", ...
[[nodiscard]] std::optional<Impact> parse_impact(std::string_view text);

// One per Remediation, from before the taint until the Remediation is closed.
struct Slot {
  std::string remediation;
  std::string node_uid;
  Place place;  // when the slot was taken
  Impact impact = Impact::kCordon;
  WallTime since;  // of this disruption

  friend bool operator==(const Slot&, const Slot&) = default;
};

// The start of a disruption or termination, which windows count. It outlives its slot.
struct Start {
  std::string remediation;
  Impact impact = Impact::kDisrupt;
  Place place;
  WallTime at;

  friend bool operator==(const Start&, const Start&) = default;
};

// A new Remediation, which the circuit breaker counts.
struct Arrival {
  std::string remediation, node_uid;
  WallTime at;
  bool seen = false;  // by the operator who closed the breaker: no longer counts

  friend bool operator==(const Arrival&, const Arrival&) = default;
};

struct Breaker {
  bool open = false;
  WallTime since;   // of this state; the epoch if it never changed
  std::string why;  // why it is open
  std::string by;   // who closed it

  friend bool operator==(const Breaker&, const Breaker&) = default;
};

// The machine behind a node, regardless of the node's name: cloud instance and GPUs.
struct Hardware {
  std::string instance_id;
  std::vector<std::string> serials;  // of the GPUs that the treatment is for

  friend bool operator==(const Hardware&, const Hardware&) = default;
};

enum class Treatment : std::uint8_t { kReset, kReboot, kTerminate };
[[nodiscard]] std::string_view to_string(Treatment treatment);  // "reset", "reboot", "terminate"
[[nodiscard]] std::optional<Treatment> parse_treatment(std::string_view text);

// Escalation and the detection of machines that fail repeatedly are based on these.
struct Attempt {
  std::string remediation;
  Hardware hardware;
  Treatment treatment = Treatment::kReset;
  WallTime at;

  friend bool operator==(const Attempt&, const Attempt&) = default;
};

// How long starts (the longest window is 7 days) and attempts are kept.
inline constexpr std::chrono::hours kStartsKept{24 * 8};
inline constexpr std::chrono::hours kAttemptsKept{24 * 31};
// These sizes fit into a ConfigMap with room to spare. If slots, starts or attempts are full,
// nothing new begins (budgets.h refuses). If arrivals are full, the oldest are dropped, which loses
// nothing: the breaker opens before they are full.
inline constexpr std::size_t kMaxSlots = 1'500;
inline constexpr std::size_t kMaxTaints = 2'000;
inline constexpr std::size_t kMaxStarts = 1'000;
inline constexpr std::size_t kMaxAttempts = 1'000;
inline constexpr std::size_t kMaxArrivals = 600;
inline constexpr std::size_t kMaxSerials = 16;  // of an attempt; more are not kept

struct Ledger {
  std::vector<Slot> slots;   // for a cordon or a higher impact
  std::vector<Slot> taints;  // for a taint, of Remediations with no slot above
  std::vector<Start> starts;
  std::vector<Arrival> arrivals;
  std::vector<Attempt> attempts;
  Breaker breaker;

  // Returns the slot of the highest impact that the Remediation has; nullptr if it has none.
  [[nodiscard]] const Slot* find(std::string_view remediation) const;
  friend bool operator==(const Ledger&, const Ledger&) = default;
};

// Takes the slot, or raises the one that the Remediation has; never lowers one. Records the start
// of a disruption or termination at slot.since. The caller first asks budgets.h, on the same
// ledger, whether the slot may be taken.
[[nodiscard]] Ledger with_slot(Ledger ledger, const Slot& slot);
// Releases the slot; recorded starts stay.
[[nodiscard]] Ledger without_slot(Ledger ledger, std::string_view remediation);

// Called before the step; counts once per Remediation and treatment.
[[nodiscard]] Ledger with_attempt(Ledger ledger, const Attempt& attempt);
// Returns the Remediations that intended this treatment since then for that machine, or for one of
// those GPUs in any machine; attempts_on() returns their number. Their own records say whether they
// carried it out.
[[nodiscard]] std::set<std::string> attempted_by(const Ledger& ledger, const Hardware& hardware,
                                                 Treatment treatment, WallTime since);
[[nodiscard]] int attempts_on(const Ledger& ledger, const Hardware& hardware, Treatment treatment,
                              WallTime since);
// Returns when the machine of `attempt`, or one of its GPUs, was last treated for another
// Remediation; nullopt if the ledger has no such attempt.
[[nodiscard]] std::optional<WallTime> last_treated_for_others(const Ledger& ledger,
                                                              const Attempt& attempt);

}  // namespace gpuward::remediator
