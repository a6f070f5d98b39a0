// The use of the budgets as one value: slots, starts of disruptions, the circuit breaker, and
// earlier treatments of each machine. decide/budgets/ledger_store keeps it in one ConfigMap, so
// that a restart, garbage collection or `kubectl delete remediation` loses nothing. Pure functions
// from ledger to ledger. Each function may be applied twice, because a caller repeats it after a
// lost answer.
//
// All times are from the wall clock, which may jump. An entry from the future means that the clock
// went back, or that another replica's clock is ahead. Such an entry counts in every window until
// its time and the window have passed, because that is the stricter reading. After a jump forward,
// windows end too early. No entry is deleted before the longest window and one day have passed, so
// the windows apply again when the clock returns.
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

// The impact that a slot permits. Each impact includes all impacts before it.
enum class Impact : std::uint8_t {
  kTaint,
  kCordon,
  kDisrupt,  // Drain, reset, reboot.
  kTerminate,
};
[[nodiscard]] std::string_view to_string(Impact impact);  // "taint", "cordon", ...
[[nodiscard]] std::optional<Impact> parse_impact(std::string_view text);

// A slot of a Remediation, from before the taint until the Remediation is closed. Each Remediation
// has at most one.
struct Slot {
  std::string remediation;
  std::string node_uid;
  Place place;  // The node's place when the slot was taken.
  Impact impact = Impact::kCordon;
  WallTime since;  // Start of this disruption.

  friend bool operator==(const Slot&, const Slot&) = default;
};

// The start of a disruption or termination, which the windows count. It stays after its slot is
// released.
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
  // True if the operator who closed the breaker has seen this arrival; it then no longer counts.
  bool seen = false;

  friend bool operator==(const Arrival&, const Arrival&) = default;
};

struct Breaker {
  bool open = false;
  WallTime since;   // Start of this state; the epoch if the state never changed.
  std::string why;  // Reason of an open breaker.
  std::string by;   // Operator who closed it.

  friend bool operator==(const Breaker&, const Breaker&) = default;
};

// The machine behind a node, independent of the node's name: cloud instance and GPUs.
struct Hardware {
  std::string instance_id;
  std::vector<std::string> serials;  // Serial numbers of the GPUs that the treatment is for.

  friend bool operator==(const Hardware&, const Hardware&) = default;
};

enum class Treatment : std::uint8_t { kReset, kReboot, kTerminate };
[[nodiscard]] std::string_view to_string(Treatment treatment);  // "reset", "reboot", "terminate"
[[nodiscard]] std::optional<Treatment> parse_treatment(std::string_view text);

// A treatment that a Remediation intended. Escalation and the detection of machines that fail
// repeatedly use the attempts.
struct Attempt {
  std::string remediation;
  Hardware hardware;
  Treatment treatment = Treatment::kReset;
  WallTime at;

  friend bool operator==(const Attempt&, const Attempt&) = default;
};

// How long starts and attempts are kept. The longest window is 7 days.
inline constexpr std::chrono::hours kStartsKept{24 * 8};
inline constexpr std::chrono::hours kAttemptsKept{24 * 31};
// Limits of the ledger, which then fits easily into a ConfigMap. If slots, starts or attempts are
// full, budgets.h refuses every new slot. If arrivals are full, the oldest are dropped; the breaker
// opens long before that.
inline constexpr std::size_t kMaxSlots = 1'500;
inline constexpr std::size_t kMaxTaints = 2'000;
inline constexpr std::size_t kMaxStarts = 1'000;
inline constexpr std::size_t kMaxAttempts = 1'000;
inline constexpr std::size_t kMaxArrivals = 600;
// Limit for one attempt; further serial numbers are not kept.
inline constexpr std::size_t kMaxSerials = 16;

struct Ledger {
  std::vector<Slot> slots;   // Slots for a cordon or a higher impact.
  std::vector<Slot> taints;  // Slots for a taint, of Remediations without an entry in `slots`.
  std::vector<Start> starts;
  std::vector<Arrival> arrivals;
  std::vector<Attempt> attempts;
  Breaker breaker;

  // Returns the slot of the highest impact that the Remediation has; nullptr if it has no slot.
  [[nodiscard]] const Slot* find(std::string_view remediation) const;
  friend bool operator==(const Ledger&, const Ledger&) = default;
};

// Adds the slot, or raises the slot that the Remediation has; never lowers a slot. Records the
// start of a disruption or termination at slot.since. The caller first asks budgets.h, on the same
// ledger, whether it may take the slot.
[[nodiscard]] Ledger with_slot(Ledger ledger, const Slot& slot);
// Releases the slot of the Remediation. Recorded starts stay.
[[nodiscard]] Ledger without_slot(Ledger ledger, std::string_view remediation);

// Records an attempt. Called before the step; counts once per Remediation and treatment.
[[nodiscard]] Ledger with_attempt(Ledger ledger, const Attempt& attempt);
// Returns the Remediations that intended this treatment after `since` for the same machine, or for
// one of the GPUs in any machine. attempts_on() returns their number. Their own records say whether
// they carried out the treatment.
[[nodiscard]] std::set<std::string> attempted_by(const Ledger& ledger, const Hardware& hardware,
                                                 Treatment treatment, WallTime since);
[[nodiscard]] int attempts_on(const Ledger& ledger, const Hardware& hardware, Treatment treatment,
                              WallTime since);
// Returns when the machine of `attempt`, or one of its GPUs, was last treated for another
// Remediation; nullopt if the ledger has no such attempt.
[[nodiscard]] std::optional<WallTime> last_treated_for_others(const Ledger& ledger,
                                                              const Attempt& attempt);

}  // namespace gpuward::remediator
