// Shows the language model of the policy the lines of the kernel that exporters have found and no
// table knows, so that it is asked without a Loki too. Finds nothing itself: what the model says
// comes by sources/triage_source. A node can only be named by its own exporter: the admission
// policy in manifests/exporter-admission.yaml sees to that.
#pragma once

#include <chrono>
#include <set>
#include <string>
#include <string_view>

#include "remediator/sources/node_lines.h"
#include "remediator/sources/source.h"
#include "remediator/triage/triage.h"

namespace gpuward::remediator {

class NodeLineSource final : public Source {
 public:
  // All must outlive it.
  NodeLineSource(const NodeLines& nodes, Triage& triage) : nodes_(nodes), triage_(triage) {}
  [[nodiscard]] std::string_view name() const override { return "node-lines"; }
  // It costs no request.
  [[nodiscard]] std::chrono::milliseconds every() const override { return std::chrono::seconds(5); }
  [[nodiscard]] Result<SourceFindings> look() override;

 private:
  const NodeLines& nodes_;
  Triage& triage_;
  std::set<std::string> shown_;  // hashes of those that stood on a node at the last look
};

}  // namespace gpuward::remediator
