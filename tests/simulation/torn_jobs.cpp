#include "tests/simulation/torn_jobs.h"

#include <algorithm>
#include <array>

#include "remediator/act/actions/step_progress.h"
#include "remediator/act/restart/job_move.h"
#include "tests/fakes/kube_objects.h"

namespace gpuward::remediator::simulation {
namespace {

using std::chrono::minutes;

constexpr std::array<const char*, 4> kNames{"train-a", "train-b", "train-c", "train-d"};
constexpr std::size_t kPodsOfAJob = 3;
const std::string kWork = "/apis/batch/v1/namespaces/default/jobs";
const std::string kPods = "/api/v1/namespaces/default/pods";
constexpr const char* kLabel = "batch.kubernetes.io/job-name";

std::string path_of_job(const std::string& name) { return kWork + "/" + name; }

bool is_suspended(const Json& job) { return member_at(member_at(job, "spec"), "suspend") == true; }

std::string remediation_in(const std::string& mark) { return mark.substr(0, mark.find('/')); }

Json set_annotation(const std::string& key, const Json& value) {
  return {{"metadata", {{"annotations", {{key, value}}}}}};
}

bool is_restarting(const Remediation& owner) {
  const StepRecord* const record = owner.status.find(Step::kRestartJob);
  return record != nullptr &&
         (record->result == StepResult::kIntended || record->result == StepResult::kRunning);
}

// The mark of the first Remediation that restarts jobs; empty if there is none.
std::string some_mark(const Stage& stage) {
  for (const auto& [name, remediation] : stage.truth.remediations()) {
    if (is_restarting(remediation)) return name + "/" + remediation.uid;
  }
  return {};
}

}  // namespace

void put_restarts(Policy& policy) {
  for (auto& [severity, plan] : policy.steps) {
    const auto drain = std::ranges::find(plan, Step::kDrain, &PlannedStep::step);
    if (drain == plan.end()) continue;
    drain->before = {};
    plan.insert(drain + 1, planned(Step::kRestartJob));
  }
}

void let_jobs_be_torn(Setting& setting, Chance& chance) {
  const bool is_plain = !setting.tests_pairs && !setting.has_pods && !setting.has_jobs;
  if (!is_plain || setting.nodes > 16 || !chance.happens(0.15)) return;
  setting.tears_jobs = true;
  setting.events += 60;
  setting.interrupt = chance.one_of({0.02, 0.1});
  setting.policy.mode = Mode::kFull;
  auto& plans = setting.policy.steps;
  for (const Severity severity : {Severity::kReset, Severity::kReboot, Severity::kIsolate}) {
    const bool drains = std::ranges::find(plans[severity], Step::kDrain, &PlannedStep::step) !=
                        plans[severity].end();
    if (!drains)
      plans[severity] = {planned(Step::kTaint), planned(Step::kCordon), planned(Step::kDrain)};
  }
  put_restarts(setting.policy);
}

// Shows a job that another user has suspended as suspended by gpuward.
void bend_torn_job(const Stage& stage, Json& job) {
  if (!stage.is_off(Sabotage::kForeignSuspend) || !is_suspended(job)) return;
  if (const std::string mark = some_mark(stage); !mark.empty())
    job.merge_patch(set_annotation(kSuspendedBy, mark));
}

TornJobs::TornJobs(Stage& stage, Invariants& invariants) : stage_(stage), invariants_(invariants) {
  if (!stage.setting.tears_jobs) return;
  for (const char* name : kNames) make(name);
  stage.on_job_patched = [this](const Json& after) { on_patched(after); };
  stage.on_rewritten.emplace_back([this](const Remediation& before, const Remediation& after) {
    if (before.open() && !after.open()) check_left(after.name, "is closed");
  });
}

void TornJobs::make(const std::string& name) {
  Json job = {{"apiVersion", "batch/v1"}, {"kind", "Job"}, {"metadata", {{"name", name}}}};
  job["spec"]["template"]["spec"] = fakes::pod("x", "")["spec"];
  jobs_[name] = stage_.kube.create(kWork, job);
  play_controller(name);
}

void TornJobs::add_pod(const std::string& job) {
  stage_.kube.create(
      kPods, fakes::pod(job + "-" + std::to_string(++pods_made_), "elsewhere", {{kLabel, job}}));
}

void TornJobs::play_controller(const std::string& name) {
  const Json pods = stage_.kube.get(kPods);
  std::size_t count = 0;
  for (const Json& pod : pods["items"]) {
    if (fakes::label_of(pod, kLabel) != name) continue;
    ++count;
    if (is_suspended(jobs_.at(name)))
      stage_.kube.remove(kPods + "/" + string_at(pod["metadata"], "name"));
  }
  if (is_suspended(jobs_.at(name))) return;
  for (; count < kPodsOfAJob; ++count) add_pod(name);
}

void TornJobs::patch(const std::string& name, const Json& patch) {
  jobs_[name] = stage_.kube.patch(path_of_job(name), patch);
}

void TornJobs::play_owner(const std::string& name) {
  const Json& job = jobs_.at(name);
  const bool is_ours = !fakes::annotation_of(job, kSuspendedBy).empty();
  switch (stage_.torn_chance.weighted({30, 15, 15, 20, 10})) {
    case 0:
      if (is_ours) return;
      patch(name, {{"spec", {{"suspend", !is_suspended(job)}}}});
      return stage_.trace.say("owner: suspend or resume " + name);
    case 1: {
      const bool is_set = !fakes::annotation_of(job, kDoNotRestart).empty();
      patch(name, set_annotation(kDoNotRestart, is_set ? Json() : Json("true")));
      return stage_.trace.say("owner: exclude " + name + " or not");
    }
    case 2: {
      const bool is_set = !fakes::label_of(job, kKueueQueue).empty();
      patch(name, {{"metadata", {{"labels", {{kKueueQueue, is_set ? Json() : Json("a")}}}}}});
      return stage_.trace.say("owner: give " + name + " to Kueue or not");
    }
    case 3:
      stage_.kube.remove(path_of_job(name));
      stage_.trace.say("owner: make " + name + " anew");
      return make(name);
    default:
      if (!is_ours) return;
      patch(name, {{"spec", {{"suspend", false}}}});
      return stage_.trace.say("owner: resume " + name);
  }
}

// Reads the jobs that a restore of etcd has brought back.
bool TornJobs::read_anew() {
  if (restores_ == stage_.restores) return false;
  restores_ = stage_.restores;
  for (const char* name : kNames) {
    if (stage_.kube.has(path_of_job(name))) {
      jobs_[name] = stage_.kube.get(path_of_job(name));
    } else {
      make(name);
    }
  }
  return true;
}

void TornJobs::go_on() {
  if (!stage_.setting.tears_jobs) return;
  (void)read_anew();
  for (const char* name : kNames) {
    if (stage_.torn_chance.happens(0.15)) play_controller(name);
  }
  if (!stage_.is_quiet && stage_.torn_chance.happens(0.02))
    play_owner(kNames.at(stage_.torn_chance.next() % kNames.size()));
}

void TornJobs::end_all() {
  if (!stage_.setting.tears_jobs) return;
  (void)read_anew();
  for (const auto& [name, job] : jobs_) play_controller(name);
}

std::string TornJobs::tear() {
  if (!stage_.setting.tears_jobs) return {};
  std::string torn;
  for (const char* name : kNames) {
    if (stage_.torn_chance.happens(0.8))
      torn += (torn.empty() ? "" : std::string(kBetweenJobs)) + "Job default/" + name;
  }
  return torn;
}

void TornJobs::on_patched(const Json& after) {
  if (read_anew()) return;
  const std::string name = string_at(after["metadata"], "name");
  const Json before = std::exchange(jobs_[name], after);
  if (is_suspended(after) && !is_suspended(before)) return on_suspended(before, after);
  if (!is_suspended(before) || is_suspended(after)) return;
  const std::string by = fakes::annotation_of(before, kSuspendedBy);
  require(!by.empty() && fakes::annotation_of(after, kRestartedBy) == by, "resumed-job",
          name + " was resumed, and " + (by.empty() ? "somebody else" : by) + " had suspended it");
}

void TornJobs::on_suspended(const Json& before, const Json& after) {
  const std::string mark = fakes::annotation_of(after, kSuspendedBy);
  const std::string what = string_at(after["metadata"], "name") + " was suspended";
  const Remediation* const owner = stage_.truth.remediation(remediation_in(mark));
  require(fakes::annotation_of(before, kDoNotRestart).empty() &&
              fakes::label_of(before, kKueueQueue).empty(),
          "suspended-job", what + ", which its owner or Kueue forbids");
  const std::string once = string_at(after["metadata"], "uid") + " " + mark;
  require(restarted_.insert(once).second || stage_.restores > 0, "suspended-job",
          what + " a second time for " + mark);
  if (owner != nullptr) invariants_.on_job_suspended(owner->name, what);
}

// A Remediation that was deleted by force, closed by hand, or whose record was edited, has lost its
// jobs.
void TornJobs::check_left(const std::string& remediation, const std::string& when) const {
  if (stage_.wiped.contains(remediation) || stage_.closed_by_hand.contains(remediation)) return;
  for (const auto& [name, job] : jobs_) {
    const bool is_left =
        is_suspended(job) && remediation_in(fakes::annotation_of(job, kSuspendedBy)) == remediation;
    require(!is_left, "left-suspended", name + " is suspended, and " + remediation + " " + when);
  }
}

void TornJobs::check_rest() const {
  for (const auto& [name, remediation] : stage_.truth.remediations())
    check_left(name, "is at rest");
}

}  // namespace gpuward::remediator::simulation
