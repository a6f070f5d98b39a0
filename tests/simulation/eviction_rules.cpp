#include "tests/simulation/eviction_rules.h"

namespace gpuward::remediator::simulation {

void EvictionRules::on_removed(const http::ClientRequest& request) const {
  const std::string name = pod_in(request.url);
  const PodTruth* const pod = stage_.pods.find(name);
  const Remediation* const owner = stage_.truth.remediation(stage_.evicts_for);
  const std::string what = "pod " + name + " was removed for " + stage_.evicts_for;
  require(pod != nullptr && owner != nullptr, "eviction-node-identity",
          what + ": there is no such pod or Remediation");
  require(pod->node_uids.contains(owner->node_uid), "eviction-node-identity",
          what + " and was never on its node");
  // The switch is asked first, and all that is read for the permit after it.
  const Tick permitted = stage_.looks.back()->permitted;
  const auto gone = stage_.pods.node_gone(owner->node_uid);
  require(!gone || *gone > permitted, "eviction-node-identity",
          what + " though that node was gone before it was permitted");
  const auto hands_off = stage_.truth.hands_off_since(owner->name);
  require(!hands_off || *hands_off > permitted, "paused", what + " though a human says hands off");
  require(!stage_.stopped_at || *stage_.stopped_at > permitted, "stopped",
          what + " though everything is to stop");
  stage_.pods.note_ending(name);
}

void EvictionRules::on_drained(const Remediation& remediation, Tick begun) const {
  if (stage_.pods.node_gone(remediation.node_uid)) return;
  for (const auto& [name, pod] : stage_.pods.all()) {
    require(pod.node != remediation.node || pod.since > begun, "drained",
            "the drain of " + remediation.name + " is done, and " + name + " is on the node");
  }
}

}  // namespace gpuward::remediator::simulation
