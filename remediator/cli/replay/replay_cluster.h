// The simulated cluster of a replay: its nodes, which start healthy without any taint or cordon,
// and their Remediations. Used by the Replayer; one thread.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/kube/api.h"
#include "core/kube/objects.h"
#include "remediator/cluster/cluster_view.h"
#include "remediator/policy/budget_limits.h"

namespace gpuward::remediator {

class ReplayCluster {
 public:
  // `budgets` must outlive it.
  ReplayCluster(const BudgetLimits& budgets, const std::vector<kube::Node>& nodes);

  void put(kube::Node node);
  void remove(const std::string& node);
  // Replaces the node by a machine of the same kind; returns the name of the new node.
  std::string replace(const kube::Node& old);
  void keep(const Remediation& remediation) { view_.put_remediation(remediation); }
  [[nodiscard]] std::optional<Remediation> open_of(const std::string& node) const;
  [[nodiscard]] std::optional<kube::Node> find(const std::string& node) const;
  [[nodiscard]] std::size_t size() const { return nodes_.size(); }
  [[nodiscard]] const ClusterView& view() const { return view_; }

 private:
  const BudgetLimits& budgets_;
  ClusterView view_;
  std::map<std::string, kube::Node> nodes_;
  int replacements_ = 0;
};

void apply(const kube::NodeChange& change, kube::Node& node);

}  // namespace gpuward::remediator
