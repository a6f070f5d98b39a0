// A look: one reconcile of a node by a replica. Holds the answers that the replica got since the
// look began, as they really were, without the changes of a sabotage. The invariants judge by it
// what the replica does next.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "core/kube/objects.h"
#include "core/runtime/clock.h"
#include "remediator/model/health_report.h"
#include "remediator/model/machine_proofs.h"
#include "remediator/policy/policy.h"
#include "tests/simulation/truth.h"

namespace gpuward::remediator::simulation {

struct Look {
  std::string who;       // for example "r1"
  std::string identity;  // in the lease, for example "r1#3"
  std::string subject;   // the node of the look
  std::shared_ptr<const Policy> policy;
  Tick begun = 0;
  int restores = 0;    // number of restores of etcd before it began
  int requests = 0;    // in the quiet time
  Tick told = 0;       // when it last got an answer about a Node or a Remediation
  Tick permitted = 0;  // when the switch last answered
  Tick sent = 0;       // when it sent the last request
  Tick node_read = 0, remediation_read = 0;  // when it last read the Node and the Remediation
  // The versions up to which the informers have received all changes.
  Version heard_nodes = 0, heard_remediations = 0;
  Clock::Steady listened;  // when the informers last received anything from the API server
  std::optional<kube::Node> node;
  std::map<std::string, std::string> versions;  // of Remediations, as the API server answered them
  std::optional<HealthReport> report;
  std::optional<MachineProofs> proofs;
};

}  // namespace gpuward::remediator::simulation
