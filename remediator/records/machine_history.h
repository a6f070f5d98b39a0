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

// A Node whose machine an earlier Remediation gave up without proof of its health.
struct ReturnedMachine {
  NodeIdentity node;
  Severity severity = Severity::kNone;  // the worst severity of those Remediations
  bool is_contradictory = false;        // one sign shows that it is another machine
  bool has_failed_diagnostic = false;   // and was neither restarted nor reset since
};

// Returns the IDs that more than one node reports.
[[nodiscard]] SharedIds shared_ids(const NodesByName& nodes);

// Returns the Remediations of the machine of `node` under its earlier Nodes; none if an operator
// has declared that the machine was replaced.
[[nodiscard]] std::vector<Remediation> earlier_remediations(const NodeIdentity& node,
                                                            const NodesByName& nodes,
                                                            const RemediationsByName& remediations);

// Returns those `names` whose machine failed a diagnostic under an earlier Node and has since been
// neither restarted nor reset, nor answered for.
[[nodiscard]] std::set<std::string> failed_before(const std::set<std::string>& names,
                                                  const NodesByName& nodes,
                                                  const RemediationsByName& remediations);

// Returns each Node once, without those that already have a Remediation about the return or an
// answer to it.
[[nodiscard]] std::vector<ReturnedMachine> find_returned(const NodesByName& nodes,
                                                         const RemediationsByName& remediations);

}  // namespace gpuward::remediator
