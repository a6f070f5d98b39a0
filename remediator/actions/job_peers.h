// Decides which nodes have failed together, and how far each is in its recovery towards the step
// nccl-pairs, from the known Remediations. Pure but for the interface, which records/cluster_view
// implements.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "core/kube/objects.h"
#include "remediator/model/remediation.h"
#include "remediator/policy/policy.h"

namespace gpuward::remediator {

struct SeenRemediation {
  const Remediation& remediation;
  std::shared_ptr<const kube::Node> node;  // of that name, as last seen; null: not known
};

// Thread-safe.
class SeenRemediations {
 public:
  virtual ~SeenRemediations() = default;
  // Calls `use` with all open Remediations, and with the closed ones that were at the step
  // nccl-pairs, by name. `use` must not call this again, and must not keep references to its
  // argument.
  virtual void with_seen(
      const std::function<void(std::span<const SeenRemediation>)>& use) const = 0;
};

struct JobPeer {
  Remediation remediation;
  std::shared_ptr<const kube::Node> node;
};

// Two nodes have failed together if their drains recorded a common job, or, if one of them recorded
// no job, if their Remediations were opened within `together` of each other. The relation is
// transitive, so each node of a group sees the same group.
struct PeerGroup {
  std::vector<JobPeer> there;   // at the step, in the boot in which it began; by name
  std::vector<JobPeer> coming;  // their recovery still leads to the step
  // Held, paused, or past the step, including Remediations that were closed after the own one was
  // opened. A node whose policy has no such step is in no list.
  std::vector<JobPeer> out;
};

// Whether a diagnostic of its own has found the node faulty: its peers may then be healthy.
[[nodiscard]] bool is_out_by_own_diagnostics(const Remediation& remediation);

// `own` is in `there`, and is not searched in `seen`.
[[nodiscard]] PeerGroup peers_of(const JobPeer& own, std::span<const SeenRemediation> seen,
                                 std::chrono::milliseconds together,
                                 const std::shared_ptr<const Policy>& policy);

}  // namespace gpuward::remediator
