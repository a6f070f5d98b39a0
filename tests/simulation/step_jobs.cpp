#include "tests/simulation/step_jobs.h"

#include <algorithm>

#include "tests/fakes/kube_objects.h"
#include "tests/simulation/stage.h"

namespace gpuward::remediator::simulation {
namespace {

using std::chrono::minutes;

// Shorter than the defaults, as the other steps of a simulation.
PlannedStep quick(Step step, Chance& chance) {
  PlannedStep plan = planned(step);
  plan.timeout = chance.span(minutes(2), minutes(8));
  if (!chance.happens(0.1)) plan.job.not_on.clear();
  if (step == Step::kGpuReset) plan.before.approval = chance.happens(0.1);
  return plan;
}

bool has(const std::vector<PlannedStep>& plan, Step step) {
  return std::ranges::find(plan, step, &PlannedStep::step) != plan.end();
}

}  // namespace

void put_jobs(Policy& policy, Chance& chance) {
  const auto& like = policy.steps[Severity::kReboot];
  std::vector<PlannedStep> reset;
  for (const PlannedStep& step : like) {
    if (step.step <= Step::kDrain) reset.push_back(step);
  }
  if (has(reset, Step::kDrain)) {
    if (chance.happens(0.7)) reset.back().before = {};
    reset.push_back(quick(Step::kGpuReset, chance));
    PlannedStep verify = planned(Step::kVerify);
    verify.timeout = minutes(6);
    verify.soak = minutes(1);
    reset.push_back(verify);
    if (chance.happens(0.8)) reset.push_back(planned(Step::kReturn));
    policy.steps[Severity::kReset] = reset;
  }
  for (auto& [severity, plan] : policy.steps) {
    const auto drain = std::ranges::find(plan, Step::kDrain, &PlannedStep::step);
    if (drain != plan.end() && chance.happens(0.4))
      plan.insert(drain, quick(Step::kCollectEvidence, chance));
  }
}

void let_steps_be_jobs(Setting& setting, Chance& chance) {
  if (setting.tests_pairs || setting.nodes > 16 || !chance.happens(0.25)) return;
  setting.has_jobs = true;
  setting.events += 120;
  setting.interrupt = chance.one_of({0.02, 0.1, 0.2});
  setting.has_lies = chance.happens(0.3);
  setting.has_humans = chance.happens(0.4);
  Policy& policy = setting.policy;
  policy.mode = Mode::kFull;
  policy.jobs.image = "here/gpuward:1";
  put_jobs(policy, chance);
  for (const Severity severity : {Severity::kReset, Severity::kReboot, Severity::kIsolate}) {
    if (!chance.happens(0.6)) continue;
    policy.recovery[severity] = {quick(Step::kQuarantineJob, chance), planned(Step::kReturn)};
  }
}

void let_restarts_be_jobs(Setting& setting, Chance& chance) {
  setting.restarts_by_job = setting.has_jobs && chance.happens(0.4);
  setting.policy.machines.restarts_by_job = setting.restarts_by_job;
}

std::string without_job_names(std::string words) {
  const std::string begin = "Job " + kJobNamespace + "/";
  for (auto at = words.find(begin); at != std::string::npos; at = words.find(begin, at + 1)) {
    const auto from = at + begin.size() - 1;
    words.erase(from, words.find_first_of(" :;,", from) - from);
  }
  return words;
}

void bend_job(Stage& stage, Json& job) {
  if (!stage.is_off(Sabotage::kJobName)) return;
  job["metadata"]["name"] =
      string_at(job["metadata"], "name").substr(0, 50) + "-" + std::to_string(++stage.tick);
}

void bend_job_pods(const Stage& stage, Json& list) {
  if (!member_at(list, "items").is_array()) return;
  for (Json& pod : list["items"]) {
    const std::string step = fakes::label_of(pod, "gpuward.dev/step");
    if (stage.is_off(Sabotage::kJobRun) && string_at(pod["status"], "phase") == "Pending")
      pod["status"]["phase"] = "Running";
    if (!stage.is_off(Sabotage::kQuarantine) || step != to_string(Step::kQuarantineJob)) continue;
    if (!pod["status"].contains("containerStatuses")) continue;
    for (Json& container : pod["status"]["containerStatuses"]) {
      if (container["state"].contains("terminated"))
        container["state"]["terminated"]["exitCode"] = 0;
    }
  }
}

bool is_done_in_words(const Stage& stage, const http::ClientRequest& request) {
  return stage.is_off(Sabotage::kLeftJobs) && request.method == "DELETE" &&
         request.url.contains("/jobs/");
}

Result<StepProgress> Unasked::begin(const StepRequest& order) {
  if (!stage_.is_off(Sabotage::kJobPermit)) return step_.begin(order);
  StepRequest unasked = order;
  unasked.permit = [] { return Status(); };
  return step_.begin(unasked);
}

}  // namespace gpuward::remediator::simulation
