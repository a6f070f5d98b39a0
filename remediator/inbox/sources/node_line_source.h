// Sends kernel lines that exporters have found and no table knows to the policy's language model,
// so that the model can be used without Loki. This source returns no findings; the model's answers
// come through inbox/sources/triage_source. Only a node's own exporter can write lines for the
// node, as the admission policy in manifests/exporter-admission.yaml ensures.
#pragma once

#include <chrono>
#include <set>
#include <string>
#include <string_view>

#include "core/runtime/clock.h"
#include "remediator/cluster/node_lines.h"
#include "remediator/inbox/sources/source.h"
#include "remediator/inbox/triage/triage.h"
#include "remediator/policy/current_policy.h"

namespace gpuward::remediator {

class NodeLineSource final : public Source {
 public:
  // The arguments must outlive the source.
  NodeLineSource(const NodeLines& nodes, Triage& triage, const CurrentPolicy& policy, Clock& clock)
      : nodes_(nodes), triage_(triage), policy_(policy), clock_(clock) {}
  [[nodiscard]] std::string_view name() const override { return "node-lines"; }
  // This source makes no request.
  [[nodiscard]] std::chrono::milliseconds every() const override { return std::chrono::seconds(5); }
  [[nodiscard]] Result<SourceFindings> look() override;

 private:
  const NodeLines& nodes_;
  Triage& triage_;
  const CurrentPolicy& policy_;
  Clock& clock_;
  std::set<std::string> shown_;  // Hashes of lines that were sent and are still on a node.
};

}  // namespace gpuward::remediator
