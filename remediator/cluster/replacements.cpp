#include "remediator/cluster/replacements.h"

#include <algorithm>

namespace gpuward::remediator {

std::optional<ReplacementClaim> claim_of(const Remediation& remediation) {
  const StepRecord* wait = remediation.status.find(Step::kVerify);
  if (wait == nullptr || wait->result == StepResult::kFailed) return std::nullopt;
  const bool is_final = wait->result == StepResult::kDone;
  const auto uid = wait->facts.find(kReplacementUidFact);
  if (uid == wait->facts.end() || (!is_final && !remediation.open())) return std::nullopt;
  return ReplacementClaim{
      .remediation = remediation.name, .node_uid = uid->second, .is_final = is_final};
}

bool must_yield(const std::string& remediation, const std::vector<ReplacementClaim>& others) {
  return std::ranges::any_of(others, [&](const ReplacementClaim& other) {
    return other.is_final || other.remediation < remediation;
  });
}

}  // namespace gpuward::remediator
