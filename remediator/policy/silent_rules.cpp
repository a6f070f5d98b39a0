#include "remediator/policy/silent_rules.h"

#include <utility>
#include <vector>

#include "remediator/model/silent_alerts.h"
#include "remediator/policy/policy.h"
#include "remediator/policy/policy_sections.h"

namespace gpuward::remediator {
namespace {

std::vector<PlannedStep> first_steps() {
  return {planned(Step::kTaint), planned(Step::kCordon), planned(Step::kNotify)};
}

// Always after an approval, as in a default plan.
void add_end(std::vector<PlannedStep>& plan) {
  plan.push_back(planned(Step::kTerminate));
  plan.back().before.approval = true;
}

}  // namespace

SilentRules read_silent_rules(const YamlMap& section) {
  using std::chrono::hours;
  using std::chrono::minutes;
  SilentRules rules;
  section.read("after", rules.after, minutes(1), hours(24),
               "how long Ready must have been Unknown or False");
  read_share(section.map("limit",
                         "if more nodes than the larger of `nodes` and `percent` are silent in the "
                         "fleet, a pool, a zone or another domain, gpuward assumes a partition and "
                         "starts no step"),
             rules.at_most);
  section.read("out_of_service", rules.moves_pods,
               "if a machine is proven to be off, first let Kubernetes move its pods and volumes "
               "with the taint node.kubernetes.io/out-of-service");
  section.read("reboot", rules.reboots,
               "restart the machine after two proofs that it is down; needs `machines.reboot` or "
               "`machines.aws.reboot`");
  section.read("terminate", rules.terminates,
               "terminate the machine after an approval and two proofs that it is down, if the "
               "restart did not help or is not enabled");
  section.read_word("kubelet", rules.kubelet, kSeverityWords,
                    "the severity of a node whose kubelet is down while Prometheus still scrapes "
                    "its exporter; steps never go beyond the cordon");
  return rules;
}

std::shared_ptr<const Policy> policy_for_silence(std::shared_ptr<const Policy> policy,
                                                 const Remediation& remediation) {
  if (!rests_on_silence(remediation)) return policy;
  auto own = std::make_shared<Policy>(*policy);
  for (PoolPolicy& pool : own->pools) {
    pool.steps.clear();
    pool.recovery.clear();
  }
  own->recovery.clear();
  auto& plan = own->steps[kSilentSeverity] = first_steps();
  auto& worst = own->steps[Severity::kIsolate] = first_steps();
  if (policy->silent.moves_pods) {
    plan.push_back(planned(Step::kOutOfService));
    worst.push_back(planned(Step::kOutOfService));
  }
  if (policy->silent.reboots) {
    for (const Step step : {Step::kReboot, Step::kVerify, Step::kReturn})
      plan.push_back(planned(step));
  } else if (policy->silent.terminates) {
    add_end(plan);
  }
  if (policy->silent.terminates) add_end(worst);
  // A node that returns healthy was never known to be broken.
  if (is_only_silent(remediation)) own->return_to_service.enabled = true;
  return own;
}

}  // namespace gpuward::remediator
