// Handles nodes with gpuward's taint, annotation or cordon but no open Remediation. An operator
// deleted the Remediation by force or edited its status, or a tool restored an old annotation. Each
// such node gets its own Remediation, which is held until an operator cancels it and never disrupts
// the node. When taint, annotation and cordon are gone, its alert ends.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/kube/api.h"
#include "core/model/result.h"
#include "core/runtime/clock.h"
#include "remediator/cluster/cluster_view.h"
#include "remediator/cluster/remediation_store.h"
#include "remediator/inbox/sources/intake.h"

namespace gpuward::remediator {

class OrphanedTaints {
 public:
  // The arguments must outlive this object.
  OrphanedTaints(kube::Api& api, RemediationStore& store, const ClusterView& view, Intake& intake,
                 Clock& clock)
      : api_(api), store_(store), view_(view), intake_(intake), clock_(clock) {}

  // Checks all nodes in the view, and reads suspect nodes from the API server before it opens a
  // Remediation. The view may not show a recent release or a recent Remediation yet. Called by the
  // leader, on any thread.
  [[nodiscard]] Status take_in();

 private:
  using Records = std::vector<Remediation>;
  [[nodiscard]] Result<std::optional<AlertSignal>> find_orphan(const std::string& name);
  [[nodiscard]] Result<std::optional<AlertSignal>> find_settled(const Remediation& remediation);
  [[nodiscard]] Result<std::optional<kube::Node>> read(const std::string& node);
  [[nodiscard]] Result<Records> records_of(const std::string& node_uid);

  kube::Api& api_;
  RemediationStore& store_;
  const ClusterView& view_;
  Intake& intake_;
  Clock& clock_;
};

}  // namespace gpuward::remediator
