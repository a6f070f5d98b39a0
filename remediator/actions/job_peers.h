// Which nodes have failed together, and how far each of them has come on its way back to the step
// nccl-pairs: told from the Remediations that are known. Pure but for the seam, which
// records/cluster_view implements.
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
  std::shared_ptr<const kube::Node> node;  // of that name, as it was last seen; null: not known
};

// Any thread.
class SeenRemediations {
 public:
  virtual ~SeenRemediations() = default;
  // All that are open, and of the closed ones those that were at the step nccl-pairs, by name;
  // `use` must not call it again, and keeps nothing of what it sees.
  virtual void with_seen(
      const std::function<void(std::span<const SeenRemediation>)>& use) const = 0;
};

struct JobPeer {
  Remediation remediation;
  std::shared_ptr<const kube::Node> node;
};

// Two have failed together where their drains have written down a job of both; or, where one of
// them knows no job, were opened within `together` of each other; and so have those that each of
// two has failed together with. Whoever asks sees the same.
struct PeerGroup {
  std::vector<JobPeer> there;   // at the step, in the boot that it was begun in; by name
  std::vector<JobPeer> coming;  // whose recovery leads there still
  // Held, paused, or past it, be it closed since the asker was opened. Whose policy has no such
  // step is nowhere.
  std::vector<JobPeer> out;
};

// Whether a diagnostic of its own has found the node at fault: then its peers may be well.
[[nodiscard]] bool is_out_by_own_diagnostics(const Remediation& remediation);

// `own` is there, and is not looked for in `seen`.
[[nodiscard]] PeerGroup peers_of(const JobPeer& own, std::span<const SeenRemediation> seen,
                                 std::chrono::milliseconds together,
                                 const std::shared_ptr<const Policy>& policy);

}  // namespace gpuward::remediator
