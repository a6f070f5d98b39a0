// Queries of the ClusterView: each is a function that holds the view's lock meanwhile. Used by all
// holders of the view.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "remediator/cluster/cluster_view.h"
#include "remediator/model/node_identity.h"

namespace gpuward::remediator {

[[nodiscard]] std::optional<NodeIdentity> identity_in(const ClusterView& view,
                                                      const std::string& name);
// Returns the node from the view; null if it is not known.
[[nodiscard]] std::shared_ptr<const kube::Node> last_node(const ClusterView& view,
                                                          const std::string& name);
// Returns the name of another Node with the same spec.providerID; nullopt if none has it, or the
// node has no providerID.
[[nodiscard]] std::optional<std::string> other_with_provider_id(const ClusterView& view,
                                                                const kube::Node& node);
// Returns the nodes created at `since` or later, oldest first.
[[nodiscard]] std::vector<std::shared_ptr<const kube::Node>> nodes_since(const ClusterView& view,
                                                                         WallTime since);
[[nodiscard]] bool is_own_change(const ClusterView& view, const std::string& node,
                                 const std::string& resource_version);
// Returns the Remediation from the view.
[[nodiscard]] std::optional<Remediation> last_remediation(const ClusterView& view,
                                                          const std::string& name);
// Returns those of one node UID, oldest first.
[[nodiscard]] std::vector<Remediation> remediations_of(const ClusterView& view,
                                                       const std::string& node_uid);
// Returns the other open ones of its node UID; seldom any.
[[nodiscard]] std::vector<Remediation> others_open(const ClusterView& view,
                                                   const Remediation& remediation);
// Returns the highest number in a name of its Remediations, deleted ones included; 0 if none.
[[nodiscard]] int last_number_of(const ClusterView& view, const std::string& node_uid);
// Calls `use` with each Remediation; it must not call the view.
void for_each_remediation(const ClusterView& view,
                          const std::function<void(const Remediation&)>& use);
// The resourceVersion of each, by name.
[[nodiscard]] std::map<std::string, std::string> remediation_versions(const ClusterView& view);
// Returns whether the view has the Remediation in this version or a later one: an informer reports
// a write after its writer has continued.
[[nodiscard]] bool knows_version(const ClusterView& view, const std::string& name,
                                 const std::string& resource_version);
// Returns the names of Remediations with work to do, on nodes of that name (more than one if the
// node was created again).
[[nodiscard]] std::vector<std::string> open_for(const ClusterView& view,
                                                const std::string& node_name);
// The names of all nodes with such a Remediation.
[[nodiscard]] std::vector<std::string> nodes_with_open(const ClusterView& view);
// Returns whether a node other than `but_for` has a Remediation since then, of severity reset or
// worse, that has no action recorded yet. Stops at the first: in a storm there are hundreds.
[[nodiscard]] bool has_unrecorded_since(const ClusterView& view, WallTime since,
                                        const std::string& but_for);
// The same, but only if the node has no annotation of gpuward yet.
[[nodiscard]] bool has_untainted_since(const ClusterView& view, WallTime since,
                                       const std::string& but_for);
// Returns whether the view has the Remediation of that name and its node in exactly these versions.
[[nodiscard]] bool are_at(const ClusterView& view, const std::string& name,
                          const std::string& version, const std::string& node_version);
// The resourceVersions of a Remediation and of a Node; empty: not known.
struct KnownVersions {
  std::string remediation, node;

  friend bool operator==(const KnownVersions&, const KnownVersions&) = default;
};
[[nodiscard]] KnownVersions versions_known(const ClusterView& view, const std::string& remediation,
                                           const std::string& node);
// Calls `use` with the nodes that budgets count and their open alerts; it must not call the view.
void with_fleet(const ClusterView& view, const std::function<void(const Fleet&)>& use);
[[nodiscard]] std::size_t fleet_size(const ClusterView& view);
// Returns the nodes whose machine an earlier Remediation gave up without proof of its health.
[[nodiscard]] std::vector<ReturnedMachine> returned_machines(const ClusterView& view);
// Returns those `names` whose machine failed a diagnostic before (machine_history.h).
[[nodiscard]] std::set<std::string> failed_before(const ClusterView& view,
                                                  const std::set<std::string>& names);
// Returns the Remediations of the same machine under its earlier Nodes (machine_history.h). Reads
// all Remediations: only for rare cases.
[[nodiscard]] std::vector<Remediation> earlier_of(const ClusterView& view,
                                                  const NodeIdentity& node);
// Returns the nodes that seem to have gpuward's taint, annotation or cordon and no open
// Remediation.
[[nodiscard]] std::vector<std::string> nodes_with_orphaned_taints(const ClusterView& view);
// Returns the nodes with gpuward's out-of-service taint, and whether each has an open Remediation.
[[nodiscard]] std::map<std::string, bool> nodes_out_of_service(const ClusterView& view);
// Returns the nodes on which gpuward has paused operands of the GPU operator, and whether a reset
// of each still needs that.
[[nodiscard]] std::map<std::string, bool> nodes_with_paused_operands(const ClusterView& view);
[[nodiscard]] std::vector<ClusterView::Count> count_remediations(const ClusterView& view);
// The number of drills by phase; the other counts leave them out.
[[nodiscard]] std::map<std::string, std::size_t> count_drills(const ClusterView& view);
// Returns whether a Remediation other than a drill waits for a budget.
[[nodiscard]] bool has_fault_waiting_for_budget(const ClusterView& view);
// The number of nodes that a budget or a storm leaves in service (is_left_in_service), by rule.
[[nodiscard]] std::map<std::string, std::size_t> count_left_in_service(const ClusterView& view);

}  // namespace gpuward::remediator
