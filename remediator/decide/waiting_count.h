// Counts open Remediations that make no progress, by phase and by the rule that decided, with the
// time since the oldest waits. tell/page/metrics shows the counts, and alerts about forgotten
// machines use them. Pure.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "remediator/model/remediation.h"

namespace gpuward::remediator {

// Limit for the number of rules in a scrape. The code has fewer rules, but a record may contain
// others.
inline constexpr std::size_t kMostWaitingRules = 64;

struct Waiting {
  Phase phase = Phase::kPending;
  std::string rule;  // `status.rule`, "undecided" or, beyond the limit, "other"
  std::size_t number = 0;
  // Since when the oldest waiting Remediation makes no progress, for any reason.
  std::optional<WallTime> since;
};

class WaitingCount {
 public:
  // Adds the Remediation, unless it is closed or has a step in progress.
  void add(const Remediation& remediation);
  [[nodiscard]] std::vector<Waiting> take() const;

 private:
  std::map<std::string, std::map<Phase, Waiting>> by_rule_;
};

}  // namespace gpuward::remediator
