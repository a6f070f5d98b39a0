// The pages as HTML below their headings, each from the data read for it: the fleet, a Remediation,
// a node, the policy. Used by tell/web/site. Pure.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/html/markup.h"
#include "core/kube/objects.h"
#include "remediator/model/remediation.h"
#include "remediator/policy/policy.h"
#include "remediator/tell/web/fleet_overview.h"
#include "remediator/tell/web/node_health.h"

namespace gpuward::remediator {

[[nodiscard]] html::Markup fleet_page(const FleetOverview& overview, WallTime now);

// The timeline of one Remediation, the reason for waiting, and the commands that affect it.
[[nodiscard]] html::Markup remediation_page(const Remediation& remediation, WallTime now);

struct NodeSeen {
  std::string name;
  std::shared_ptr<const kube::Node> node;  // null: it does not exist now
  std::vector<Remediation> remediations;   // for that name, the latest first
  NodeHealth health = {};                  // of its exporter
  std::string exclusion = {};              // why gpuward does not act on it; empty: it may
};

[[nodiscard]] html::Markup node_page(const NodeSeen& seen, WallTime now);

// The policy in force, in the words of `gpuwardctl policy explain`.
[[nodiscard]] html::Markup policy_page(const Policy& policy);

}  // namespace gpuward::remediator
