// What is known of the machine behind a Node from the time when it had other Nodes: a Node can be
// deleted and registered again, by whomever, and its machine goes on. Pure functions on what the
// ClusterView has seen; used by it.
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

// A Node whose machine an earlier Remediation has given up without proof of its health.
struct ReturnedMachine {
  NodeIdentity node;
  Severity severity = Severity::kNone;  // the worst that it was given up with
  bool is_contradictory = false;        // one sign says that it is another machine
  bool has_failed_diagnostic = false;   // and was neither restarted nor reset since
};

// What more than one of them reports.
[[nodiscard]] SharedIds shared_ids(const NodesByName& nodes);

// The Remediations of the machine of `node` under its earlier Nodes; none where an operator has
// said that the machine was replaced.
[[nodiscard]] std::vector<Remediation> earlier_remediations(const NodeIdentity& node,
                                                            const NodesByName& nodes,
                                                            const RemediationsByName& remediations);

// Which of the Nodes of these names are of a machine that failed a diagnostic under an earlier Node
// and was neither restarted nor reset, nor answered for, since.
[[nodiscard]] std::set<std::string> failed_before(const std::set<std::string>& names,
                                                  const NodesByName& nodes,
                                                  const RemediationsByName& remediations);

// Each Node once: those that have a Remediation that says so, or has answered it, are left out.
[[nodiscard]] std::vector<ReturnedMachine> find_returned(const NodesByName& nodes,
                                                         const RemediationsByName& remediations);

}  // namespace gpuward::remediator
