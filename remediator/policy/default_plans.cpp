#include "remediator/policy/default_plans.h"

#include <initializer_list>
#include <utility>

namespace gpuward::remediator {
namespace {

std::vector<PlannedStep> plan_with(std::initializer_list<Step> steps, const DrainSettings& drain) {
  std::vector<PlannedStep> plan;
  for (const Step step : steps) {
    PlannedStep next = planned(step);
    next.drain = drain;
    plan.push_back(std::move(next));
  }
  return plan;
}

}  // namespace

std::map<Severity, std::vector<PlannedStep>> default_plans(const Means& means,
                                                           const DrainSettings& drain) {
  const auto marks = plan_with({Step::kTaint, Step::kCordon}, drain);
  DrainSettings gpu_drain = drain;
  gpu_drain.pods = DrainedPods::kGpu;
  std::map<Severity, std::vector<PlannedStep>> plans = {
      {Severity::kReset, marks},
      {Severity::kReboot, marks},
      {Severity::kIsolate,
       plan_with({Step::kTaint, Step::kCordon, Step::kDrain, Step::kTerminate}, drain)}};
  if (means.gpu_reset) {
    plans[Severity::kReset] = plan_with(
        {Step::kTaint, Step::kCordon, Step::kDrain, Step::kGpuReset, Step::kVerify, Step::kReturn},
        gpu_drain);
  }
  if (means.reboot) {
    plans[Severity::kReboot] = plan_with(
        {Step::kTaint, Step::kCordon, Step::kDrain, Step::kReboot, Step::kVerify, Step::kReturn},
        drain);
  }
  return plans;
}

}  // namespace gpuward::remediator
