// All steps after the marks, made from what they need. Used by the composition root.
#pragma once

#include <map>
#include <memory>

#include "remediator/actions/step_action.h"
#include "remediator/cloud/provider.h"
#include "remediator/safety/health_report.h"

namespace gpuward::remediator {

// All must outlive the actions; `reports` is null where no Prometheus is configured.
struct StepServices {
  HealthReports* reports;
  CloudProvider& machines;
  const CurrentPolicy& policy;
};

using StepTable = std::map<Step, std::unique_ptr<StepAction>>;

[[nodiscard]] StepTable make_steps(const StepServices& services);

}  // namespace gpuward::remediator
