// What is asked of the ClusterView: each question is a function that holds its lock while it looks.
// Used by whoever has the view.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "remediator/model/node_identity.h"
#include "remediator/records/cluster_view.h"

namespace gpuward::remediator {

[[nodiscard]] std::optional<NodeIdentity> identity_in(const ClusterView& view,
                                                      const std::string& name);
// As it was last seen; null where it is not known.
[[nodiscard]] std::shared_ptr<const kube::Node> last_node(const ClusterView& view,
                                                          const std::string& name);
// The name of another Node with the same spec.providerID; nullopt: none has it, or the node has
// none.
[[nodiscard]] std::optional<std::string> other_with_provider_id(const ClusterView& view,
                                                                const kube::Node& node);
// Those made at `since` or later, oldest first.
[[nodiscard]] std::vector<std::shared_ptr<const kube::Node>> nodes_since(const ClusterView& view,
                                                                         WallTime since);
[[nodiscard]] bool is_own_change(const ClusterView& view, const std::string& node,
                                 const std::string& resource_version);
// As it was last seen.
[[nodiscard]] std::optional<Remediation> last_remediation(const ClusterView& view,
                                                          const std::string& name);
// Those of one node UID, oldest first.
[[nodiscard]] std::vector<Remediation> remediations_of(const ClusterView& view,
                                                       const std::string& node_uid);
// The others of its node UID that are open: seldom any.
[[nodiscard]] std::vector<Remediation> others_open(const ClusterView& view,
                                                   const Remediation& remediation);
// The highest number that the name of one of them has had, be it deleted since; 0 for none.
[[nodiscard]] int last_number_of(const ClusterView& view, const std::string& node_uid);
// Calls `use` with each Remediation; it must not call the view.
void for_each_remediation(const ClusterView& view,
                          const std::function<void(const Remediation&)>& use);
// The resourceVersion of each, by name.
[[nodiscard]] std::map<std::string, std::string> remediation_versions(const ClusterView& view);
// Whether the Remediation of that name is known in this version or a later one: an informer tells
// of a write after the one who made it has gone on.
[[nodiscard]] bool knows_version(const ClusterView& view, const std::string& name,
                                 const std::string& resource_version);
// Names of those that something is to be done for, on nodes of that name (more than one after a
// node was made anew).
[[nodiscard]] std::vector<std::string> open_for(const ClusterView& view,
                                                const std::string& node_name);
// The names of all nodes with such a Remediation.
[[nodiscard]] std::vector<std::string> nodes_with_open(const ClusterView& view);
// Whether a node but for that one has a Remediation since then, of severity reset or worse, that
// says nothing yet of what was done. Ends at the first: in a storm there are hundreds.
[[nodiscard]] bool has_unrecorded_since(const ClusterView& view, WallTime since,
                                        const std::string& but_for);
// The same where the node does not bear its mark either.
[[nodiscard]] bool has_untainted_since(const ClusterView& view, WallTime since,
                                       const std::string& but_for);
// Whether the Remediation of that name and its node are known in just these versions.
[[nodiscard]] bool are_at(const ClusterView& view, const std::string& name,
                          const std::string& version, const std::string& node_version);
// The resourceVersions of a Remediation and of a Node; empty: not known.
struct KnownVersions {
  std::string remediation, node;

  friend bool operator==(const KnownVersions&, const KnownVersions&) = default;
};
[[nodiscard]] KnownVersions versions_known(const ClusterView& view, const std::string& remediation,
                                           const std::string& node);
// The nodes that budgets count, with what is open about each; `use` must not call the view.
void with_fleet(const ClusterView& view, const std::function<void(const Fleet&)>& use);
[[nodiscard]] std::size_t fleet_size(const ClusterView& view);
// Nodes whose machine an earlier Remediation has given up without proof of its health.
[[nodiscard]] std::vector<ReturnedMachine> returned_machines(const ClusterView& view);
// Of these, the names of nodes whose machine failed a diagnostic before (machine_history.h).
[[nodiscard]] std::set<std::string> failed_before(const ClusterView& view,
                                                  const std::set<std::string>& names);
// The Remediations of the same machine under its earlier Nodes (machine_history.h). Looks at all
// that there are: only for what is rare.
[[nodiscard]] std::vector<Remediation> earlier_of(const ClusterView& view,
                                                  const NodeIdentity& node);
// Names of nodes that seem to have our taint, annotation or cordon and no open Remediation.
[[nodiscard]] std::vector<std::string> nodes_with_orphaned_taints(const ClusterView& view);
// The nodes that have gpuward's taint out-of-service, and whether a Remediation of each is open.
[[nodiscard]] std::map<std::string, bool> nodes_out_of_service(const ClusterView& view);
// The nodes on which gpuward has paused operands of the GPU operator, and whether a reset of each
// needs that.
[[nodiscard]] std::map<std::string, bool> nodes_with_paused_operands(const ClusterView& view);
[[nodiscard]] std::vector<ClusterView::Count> count_remediations(const ClusterView& view);
// Those that are drills, which the others leave out: by phase.
[[nodiscard]] std::map<std::string, std::size_t> count_drills(const ClusterView& view);
// Whether one that is no drill waits for a budget.
[[nodiscard]] bool has_fault_waiting_for_budget(const ClusterView& view);
// Nodes that a budget or a storm leaves in service (is_left_in_service), by its rule.
[[nodiscard]] std::map<std::string, std::size_t> count_left_in_service(const ClusterView& view);

}  // namespace gpuward::remediator
