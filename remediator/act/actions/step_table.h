// All steps after taint and cordon, made from the services that they need. The table is in all.cpp.
// Used by the composition root, which passes find_step() to the reconciler.
#pragma once

#include <map>
#include <memory>

#include "core/kube/api.h"
#include "remediator/act/actions/job_peers.h"
#include "remediator/act/actions/step_action.h"
#include "remediator/act/cloud/provider.h"
#include "remediator/act/drain/drainer.h"
#include "remediator/cluster/replacements.h"
#include "remediator/model/health_report.h"
#include "remediator/model/machine_proofs.h"

namespace gpuward::remediator {

// All must outlive the actions; `reports` is null if no Prometheus is configured.
struct StepServices {
  kube::Api& api;
  HealthReports* reports;
  Drainer& drainer;
  CloudProvider& machines;
  ProofSource* proofs;  // null if nothing can prove a machine off
  const CurrentPolicy& policy;
  const SeenRemediations& seen;
  Replacements& replacements;
  std::string own_pod;  // "namespace/name" of this process; empty outside of a cluster
};

using StepTable = std::map<Step, std::unique_ptr<StepAction>>;

// nullptr if this process has no action for it.
[[nodiscard]] StepAction* find_step(const StepTable& steps, Step step);

[[nodiscard]] StepTable make_steps(const StepServices& services);

}  // namespace gpuward::remediator
