// Nodes that have gpuward's taint, annotation or cordon but no open Remediation: an operator
// deleted it by force or edited its status, or a tool restored an old annotation. Each gets a
// Remediation of its own, which is held until an operator cancels it; it never disrupts. When
// taint, annotation and cordon are gone, its alert ends.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/kube/api.h"
#include "core/model/result.h"
#include "core/runtime/clock.h"
#include "remediator/records/cluster_view.h"
#include "remediator/records/remediation_store.h"
#include "remediator/sources/intake.h"

namespace gpuward::remediator {

class OrphanedTaints {
 public:
  // All must outlive it.
  OrphanedTaints(kube::Api& api, RemediationStore& store, const ClusterView& view, Intake& intake,
                 Clock& clock)
      : api_(api), store_(store), view_(view), intake_(intake), clock_(clock) {}

  // Checks all nodes, first in the view. Suspect nodes are read from the API server before a
  // Remediation is opened: the view lags behind a release, and behind a Remediation that was just
  // opened. Called by the leader, on any thread.
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
