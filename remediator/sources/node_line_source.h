// Shows the language model of the policy the lines of the kernel that exporters have found and no
// table knows, so that it is asked without a Loki too. Finds nothing itself: what the model says
// comes by sources/triage_source. A node can only be named by its own exporter: the admission
// policy in manifests/exporter-admission.yaml sees to that.
#pragma once

#include <chrono>
#include <set>
#include <string>
#include <string_view>

#include "core/runtime/clock.h"
#include "remediator/policy/current_policy.h"
#include "remediator/sources/node_lines.h"
#include "remediator/sources/source.h"
#include "remediator/triage/triage.h"

namespace gpuward::remediator {

class NodeLineSource final : public Source {
 public:
  // All must outlive it.
  NodeLineSource(const NodeLines& nodes, Triage& triage, const CurrentPolicy& policy, Clock& clock)
      : nodes_(nodes), triage_(triage), policy_(policy), clock_(clock) {}
  [[nodiscard]] std::string_view name() const override { return "node-lines"; }
  // It costs no request.
  [[nodiscard]] std::chrono::milliseconds every() const override { return std::chrono::seconds(5); }
  [[nodiscard]] Result<SourceFindings> look() override;

 private:
  const NodeLines& nodes_;
  Triage& triage_;
  const CurrentPolicy& policy_;
  Clock& clock_;
  std::set<std::string> shown_;  // hashes of those that were taken and still stand on a node
};

}  // namespace gpuward::remediator
