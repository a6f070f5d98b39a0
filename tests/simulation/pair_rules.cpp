#include "tests/simulation/pair_rules.h"

#include "tests/fakes/kube_objects.h"

namespace gpuward::remediator::simulation {
namespace {

// The message of a verdict from tests. A node that failed alone, or whose partners were all found
// bad, has another message.
constexpr const char* kPassed = "passed with";
constexpr const char* kFails = "fails with";

}  // namespace

const Remediation& PairRules::on_job_made(const Json& job, const std::string& what) const {
  const Remediation* const owner =
      stage_.truth.remediation(fakes::annotation_of(job, "gpuward.dev/remediation"));
  require(owner != nullptr, "intent", what + " for no Remediation");
  require(owner->status.find(Step::kNcclPairs) != nullptr, "intent", what + " without an intent");
  return *owner;
}

void PairRules::on_written(const Remediation* before, const Remediation& after) const {
  const StepRecord* const record = after.status.find(Step::kNcclPairs);
  const StepRecord* const known =
      before == nullptr ? nullptr : before->status.find(Step::kNcclPairs);
  if (record == nullptr || (known != nullptr && known->result == record->result)) return;
  const bool is_bad = stage_.bad_links.contains(after.instance_id);
  const bool is_acquitted =
      record->result == StepResult::kDone && record->message.starts_with(kPassed);
  const bool is_convicted =
      record->result == StepResult::kFailed && record->message.starts_with(kFails);
  require(!is_acquitted || !is_bad, "acquitted",
          after.name + " " + record->message + ", and its links are bad");
  require(!is_convicted || is_bad, "convicted",
          after.name + " " + record->message + ", and its links are well");
}

}  // namespace gpuward::remediator::simulation
