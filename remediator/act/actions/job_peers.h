// Finds the nodes that failed together in the known Remediations, and how far each node is on its
// way to the step nccl-pairs. Pure.
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <vector>

#include "core/kube/objects.h"
#include "remediator/cluster/seen_remediations.h"
#include "remediator/model/remediation.h"
#include "remediator/policy/policy.h"

namespace gpuward::remediator {

struct JobPeer {
  Remediation remediation;
  std::shared_ptr<const kube::Node> node;
};

// The nodes that failed together. Two nodes belong together if their drains recorded a common job.
// If one drain recorded no job, the two Remediations must have been opened within `together` of
// each other. The relation is transitive, so each node of a group sees the same group.
struct PeerGroup {
  // Nodes at the step, in the boot in which the step began; sorted by name.
  std::vector<JobPeer> there;
  std::vector<JobPeer> coming;  // Nodes with a recovery that still leads to the step.
  // Nodes with a Remediation that is held, paused, or past the step, including Remediations that
  // were closed after the node's own Remediation was opened. A node with a policy without this step
  // is in no list.
  std::vector<JobPeer> out;
};

// Returns whether one of the node's own diagnostics found the node faulty. The other nodes of the
// job may then be healthy.
[[nodiscard]] bool is_out_by_own_diagnostics(const Remediation& remediation);

// Returns the group of the node `own`. `own` is always in `there`; `seen` need not contain it.
[[nodiscard]] PeerGroup peers_of(const JobPeer& own, std::span<const SeenRemediation> seen,
                                 std::chrono::milliseconds together,
                                 const std::shared_ptr<const Policy>& policy);

}  // namespace gpuward::remediator
