// Which closed Remediations may be deleted. Pure; used by the leader's upkeep. The ledger keeps
// their slots and attempts beyond their deletion.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <vector>

#include "remediator/model/remediation.h"

namespace gpuward::remediator {

struct Retention {
  std::chrono::milliseconds age = std::chrono::hours(24 * 30);  // Time after closing.
  // Limit for closed Remediations, without those that keep a machine's history.
  std::int64_t most = 2'000;
};

// A Remediation that was cancelled while its alert fired is kept for this many times the age.
inline constexpr int kLongestHeld = 10;
// Limit for one upkeep, so that the upkeep is short.
inline constexpr std::size_t kMostForgotten = 200;

// Returns those that are too old, the oldest first, and then those above the number: first those of
// severity monitor, then the oldest. Never an open one. If alerts still fired when an operator
// cancelled a Remediation, it is kept longer, because their repeats would open another. The number
// does not remove a Remediation that keeps a machine out of service, or that has found a returned
// machine healthy. A Replaced one stays while a Remediation is open that has drained its node and
// began before that end: the new Node counts as a replacement only once.
[[nodiscard]] std::vector<const Remediation*> to_forget(std::span<const Remediation> all,
                                                        const Retention& retention, WallTime now);

}  // namespace gpuward::remediator
