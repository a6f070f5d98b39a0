// Counts open Remediations that make no progress, by phase and by the rule that decided, and since
// when. Pure; page/metrics shows it, and the alerts about forgotten machines use it.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "remediator/model/remediation.h"

namespace gpuward::remediator {

// Rules are words of the code; if a record has others, a scrape still has no more than these.
inline constexpr std::size_t kMostWaitingRules = 64;

struct Waiting {
  Phase phase = Phase::kPending;
  std::string rule;  // `status.rule`, "undecided" or, beyond the limit, "other"
  std::size_t number = 0;
  // Since when the one that has waited longest makes no progress, for any reason.
  std::optional<WallTime> since;
};

class WaitingCount {
 public:
  // Ignores one that is closed or has a step under way.
  void add(const Remediation& remediation);
  [[nodiscard]] std::vector<Waiting> take() const;

 private:
  std::map<std::string, std::map<Phase, Waiting>> by_rule_;
};

}  // namespace gpuward::remediator
