// What the budgets have been spent on, as one value: who holds a slot, what was begun when, the
// circuit breaker, and how often each machine has been treated. Lives in one ConfigMap
// (budgets/ledger_store), so that a restart, garbage collection or `kubectl delete remediation`
// forgets nothing. Pure functions from ledger to ledger; each may be applied twice, because a lost
// answer makes its caller do so.
//
// Time is the wall clock's, which may jump. An entry from the future (the clock went back, or
// another replica's is ahead) is inside every window until its time and the window have passed:
// nobody can tell whose clock is right, so the stricter one is. After a jump forward windows end
// too early, but nothing is forgotten before a day more than the longest window has passed: when
// the clock comes back, they bind again.
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

// What a slot is taken for; a later one includes those before it.
enum class Impact : std::uint8_t {
  kTaint,
  kCordon,
  kDisrupt,  // drain, reset, reboot
  kTerminate,
};
[[nodiscard]] std::string_view to_string(Impact impact);  // "taint", "cordon", ...
[[nodiscard]] std::optional<Impact> parse_impact(std::string_view text);

// One a Remediation, from before the taint until the Remediation is closed.
struct Slot {
  std::string remediation;
  std::string node_uid;
  Place place;  // when the slot was taken
  Impact impact = Impact::kCordon;
  WallTime since;  // of this disruption

  friend bool operator==(const Slot&, const Slot&) = default;
};

// A disruption or termination that was begun: what windows count. Outlives its slot.
struct Start {
  std::string remediation;
  Impact impact = Impact::kDisrupt;
  Place place;
  WallTime at;

  friend bool operator==(const Start&, const Start&) = default;
};

// A Remediation that was opened: what the circuit breaker counts.
struct Arrival {
  std::string remediation, node_uid;
  WallTime at;
  bool seen = false;  // by the operator who closed the breaker: no longer counts

  friend bool operator==(const Arrival&, const Arrival&) = default;
};

struct Breaker {
  bool open = false;
  WallTime since;   // of this state; the epoch where it was never touched
  std::string why;  // it is open
  std::string by;   // who closed it

  friend bool operator==(const Breaker&, const Breaker&) = default;
};

// The machine behind a node, whatever the node is called: cloud instance and GPUs.
struct Hardware {
  std::string instance_id;
  std::vector<std::string> serials;  // of the GPUs that the treatment is for

  friend bool operator==(const Hardware&, const Hardware&) = default;
};

enum class Treatment : std::uint8_t { kReset, kReboot, kTerminate };
[[nodiscard]] std::string_view to_string(Treatment treatment);  // "reset", "reboot", "terminate"
[[nodiscard]] std::optional<Treatment> parse_treatment(std::string_view text);

// Escalation and the memory of machines that come back again and again rest on these.
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
// What fits into a ConfigMap with room to spare. Where slots, starts or attempts are full, nothing
// new is begun (budgets.h refuses); of arrivals the oldest give way, which costs nothing: the
// breaker opens before they are full.
inline constexpr std::size_t kMaxSlots = 1'500;
inline constexpr std::size_t kMaxTaints = 2'000;
inline constexpr std::size_t kMaxStarts = 1'000;
inline constexpr std::size_t kMaxAttempts = 1'000;
inline constexpr std::size_t kMaxArrivals = 600;
inline constexpr std::size_t kMaxSerials = 16;  // of an attempt; more are not kept

struct Ledger {
  std::vector<Slot> slots;   // to cordon and for what is worse
  std::vector<Slot> taints;  // to taint, of Remediations without one of those
  std::vector<Start> starts;
  std::vector<Arrival> arrivals;
  std::vector<Attempt> attempts;
  Breaker breaker;

  // The worst that the Remediation has; null where it has none.
  [[nodiscard]] const Slot* find(std::string_view remediation) const;
  friend bool operator==(const Ledger&, const Ledger&) = default;
};

// Takes the slot, or raises the one that the Remediation has; a slot is never lowered. Begins a
// disruption or termination at slot.since. Whether it may be taken is budgets.h's to say, on the
// same ledger.
[[nodiscard]] Ledger with_slot(Ledger ledger, const Slot& slot);
// Gives the slot back; what was begun stays begun.
[[nodiscard]] Ledger without_slot(Ledger ledger, std::string_view remediation);

// Before the step; once a Remediation and treatment.
[[nodiscard]] Ledger with_attempt(Ledger ledger, const Attempt& attempt);
// The Remediations by which that machine, or one of those GPUs wherever it is now, was to be
// treated so since then; and how many they are. Whether it came to that is in their own records.
[[nodiscard]] std::set<std::string> attempted_by(const Ledger& ledger, const Hardware& hardware,
                                                 Treatment treatment, WallTime since);
[[nodiscard]] int attempts_on(const Ledger& ledger, const Hardware& hardware, Treatment treatment,
                              WallTime since);
// When the machine of `attempt`, or one of its GPUs, was last treated for another Remediation than
// its own; nullopt where that is not known to have been.
[[nodiscard]] std::optional<WallTime> last_treated_for_others(const Ledger& ledger,
                                                              const Attempt& attempt);

}  // namespace gpuward::remediator
