// What a replica has been told since it began to look at a node, as it was really said, whatever a
// sabotage made of it. The invariants judge by this what it does next.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "core/kube/objects.h"
#include "core/runtime/clock.h"
#include "remediator/guards/machine_proofs.h"
#include "remediator/model/health_report.h"
#include "remediator/policy/policy.h"
#include "tests/simulation/truth.h"

namespace gpuward::remediator::simulation {

struct Look {
  std::string who;       // "r1"
  std::string identity;  // in the lease: "r1#3"
  std::string subject;   // the node that it looks at
  std::shared_ptr<const Policy> policy;
  Tick begun = 0;
  int restores = 0;    // of etcd, before it began
  int requests = 0;    // in the quiet time
  Tick told = 0;       // the last answer about a Node or a Remediation that it got
  Tick permitted = 0;  // the last answer of the switch
  Tick sent = 0;       // when the last request was
  Tick node_read = 0, remediation_read = 0;  // the last answers that had one of these
  // The versions up to which the informers have heard of all changes.
  Version heard_nodes = 0, heard_remediations = 0;
  Clock::Steady listened;  // when these last heard from the API server at all
  std::optional<kube::Node> node;
  std::map<std::string, std::string> versions;  // of Remediations, as they were answered
  std::optional<HealthReport> report;
  std::optional<MachineProofs> proofs;
};

}  // namespace gpuward::remediator::simulation
