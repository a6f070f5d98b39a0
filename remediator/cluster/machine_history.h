// The history of the machine behind a Node from the time when it had other Nodes: a Node can be
// deleted and registered again while its machine stays the same. Pure functions on the contents of
// the ClusterView, which uses them.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/kube/objects.h"
#include "remediator/model/history_alerts.h"
#include "remediator/model/machine_identity.h"
#include "remediator/model/node_identity.h"
#include "remediator/model/remediation.h"

namespace gpuward::remediator {

using NodesByName = std::map<std::string, std::shared_ptr<const kube::Node>>;
using RemediationsByName = std::map<std::string, Remediation>;

// A Node with a machine that an earlier Remediation left without proof of its health.
struct ReturnedMachine {
  NodeIdentity node;
  Severity severity = Severity::kNone;  // Worst severity of these earlier Remediations.
  bool is_contradictory = false;        // One sign shows that it is another machine.
  // The machine failed a diagnostic and was neither restarted nor reset after it.
  bool has_failed_diagnostic = false;
};

// Returns the IDs that more than one node reports.
[[nodiscard]] SharedIds shared_ids(const NodesByName& nodes);

// Returns the Remediations of the machine of `node` under its earlier Nodes; none if an operator
// has declared that the machine was replaced.
[[nodiscard]] std::vector<Remediation> earlier_remediations(const NodeIdentity& node,
                                                            const NodesByName& nodes,
                                                            const RemediationsByName& remediations);

// Returns the `names` with a machine that failed a diagnostic under an earlier Node. Machines that
// were restarted or reset since, or that an operator has answered for, are left out.
[[nodiscard]] std::set<std::string> failed_before(const std::set<std::string>& names,
                                                  const NodesByName& nodes,
                                                  const RemediationsByName& remediations);

// Returns the returned machines, each Node once. Nodes that already have a Remediation about the
// return, or an answer to it, are left out.
[[nodiscard]] std::vector<ReturnedMachine> find_returned(const NodesByName& nodes,
                                                         const RemediationsByName& remediations);

}  // namespace gpuward::remediator
