// The Remediations of nodes that may have failed together. The step nccl-pairs reads them; the
// ClusterView implements the interface.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "core/kube/objects.h"
#include "remediator/model/remediation.h"

namespace gpuward::remediator {

struct SeenRemediation {
  const Remediation& remediation;
  // The node of that name as last seen; null if the node is unknown.
  std::shared_ptr<const kube::Node> node;
};

// The Remediations that this process has seen. Thread-safe.
class SeenRemediations {
 public:
  virtual ~SeenRemediations() = default;
  // Calls `use` with all open Remediations and with the closed Remediations that were at the step
  // nccl-pairs, sorted by name. `use` must not call with_seen(), and must not keep references to
  // its argument.
  virtual void with_seen(
      const std::function<void(std::span<const SeenRemediation>)>& use) const = 0;
};

}  // namespace gpuward::remediator
