// What is done at each severity where the policy does not say: the whole road, as far as what is
// configured can go it. The mode still says how much of it is taken.
#pragma once

#include <map>
#include <vector>

#include "core/model/severity.h"
#include "remediator/policy/step_plan.h"

namespace gpuward::remediator {

// What somebody has to set up before it can be done.
struct Means {
  bool reboot = false;     // a program or a cloud that restarts machines
  bool gpu_reset = false;  // an image or a template for the Job
};

// isolate: taint, cordon, drain, terminate (after an approval). reboot: taint, cordon, drain,
// reboot, verify, return-to-service. reset: taint, cordon, drain of the pods that use GPUs,
// gpu-reset, verify, return-to-service. Without the means only taint and cordon. Pure.
[[nodiscard]] std::map<Severity, std::vector<PlannedStep>> default_plans(
    const Means& means = {}, const DrainSettings& drain = {});

}  // namespace gpuward::remediator
