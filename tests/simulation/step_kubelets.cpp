#include "tests/simulation/step_kubelets.h"

#include "tests/fakes/kube_objects.h"

namespace gpuward::remediator::simulation {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

const std::string kJobs = "/apis/batch/v1/namespaces/" + kJobNamespace + "/jobs";
constexpr const char* kFailure = R"({"check":"4-dcgm-diag-l4","status":"fail"})";
constexpr const char* kBusy = "GPU 00000000:F9:00.0: In use by another client";

std::string pod_of(const JobTruth& job) { return job.name + "-" + job.uid.substr(0, 8); }

Json pending_status() {
  const Json waiting = {{"reason", "ImagePullBackOff"}, {"message", "no such image"}};
  const Json container = {{"name", "c"},    {"image", "i"},      {"imageID", ""},
                          {"ready", false}, {"restartCount", 0}, {"state", {{"waiting", waiting}}}};
  return {{"status", {{"phase", "Pending"}, {"containerStatuses", Json::array({container})}}}};
}

}  // namespace

void StepKubelets::say(const JobTruth& job, const std::string& what) {
  ++stage_.tick;
  stage_.trace.say("Job " + std::string(to_string(job.step)) + " on " + job.node + " " + what);
}

void StepKubelets::put_pod(const JobTruth& job, const Json& status) {
  const std::string path = kJobPods + "/" + pod_of(job);
  if (!stage_.kube.has(path)) {
    const Json made = stage_.kube.get(kJobs + "/" + job.name);
    Json pod = fakes::pod(
        pod_of(job), job.node,
        {{"job-name", job.name}, {"gpuward.dev/step", std::string(to_string(job.step))}});
    pod["metadata"]["ownerReferences"] = fakes::owned_by_job(made);
    stage_.kube.create(kJobPods, pod);
  }
  stage_.kube.patch_status(path, status);
}

void StepKubelets::drop_pod(const JobTruth& job) {
  if (stage_.kube.has(kJobPods + "/" + pod_of(job)))
    stage_.kube.remove(kJobPods + "/" + pod_of(job));
}

void StepKubelets::start(JobTruth& job, const Machine& machine) {
  put_pod(job, fakes::running_status());
  job.runs_in = machine.boot_id(machine.boots);
  say(job, "runs");
}

void StepKubelets::wait_for_ever(JobTruth& job) {
  put_pod(job, pending_status());
  job.is_stuck = true;
  say(job, "never starts");
}

void StepKubelets::exit(JobTruth& job, int code, const std::string& words,
                        const std::string& reason) {
  put_pod(job, fakes::ended_pod_status("c", code, words, reason));
  stage_.kube.patch_status(kJobs + "/" + job.name,
                           fakes::ended_job_status(code == 0 ? "Complete" : "Failed",
                                                   code == 0 ? "" : "BackoffLimitExceeded"));
  job.is_over = true;
  job.has_failed_check = words == kFailure;
  say(job, "exits with " + std::to_string(code));
}

// The Job fails, and its pod is gone.
void StepKubelets::fail(JobTruth& job, const std::string& reason) {
  drop_pod(job);
  stage_.kube.patch_status(kJobs + "/" + job.name, fakes::ended_job_status("Failed", reason));
  job.is_over = true;
  say(job, "has failed: " + reason);
}

void StepKubelets::remove(JobTruth& job, const std::string& why) {
  drop_pod(job);
  stage_.kube.remove(kJobs + "/" + job.name);
  job.is_over = true;
  say(job, "is deleted: " + why);
}

// Restarts only in the boot in which the restart was requested, as the command does. The restart
// may come before the kubelet has reported the pod's end.
void StepKubelets::restart(JobTruth& job, Machine& machine) {
  Chance& chance = stage_.restarts_chance;
  if (job.boot != machine.boot_id(machine.boots)) return exit(job, 1, "booted since");
  if (chance.happens(0.1)) return exit(job, 2, "process 1 is not systemd");
  const remediator::Machine order{.remediation = job.remediation,
                                  .node = job.node,
                                  .node_uid = job.node_uid,
                                  .provider_id = job.instance,
                                  .boot_id = job.boot,
                                  .labels = {}};
  calls_.on_taken(order);
  calls_.on_restarted(order);
  job.has_acted = true;
  if (chance.happens(0.5)) exit(job, 0, "");
  fleet_.begin_restart(machine, stage_.clock.steady() + chance.span(seconds(20), minutes(4)));
  if (!stage_.is_quiet && chance.happens(0.1)) machine.back_at.reset();
}

// Ends as the machine's state demands: a reset helps if it can.
void StepKubelets::exit_by_itself(JobTruth& job, Machine& machine) {
  if (job.step == Step::kReboot) return restart(job, machine);
  job.has_acted = true;
  if (job.step == Step::kGpuReset) {
    const bool helps = stage_.jobs_chance.happens(0.8);
    if (helps) fleet_.reset_gpus(machine);
    return exit(job, helps ? 0 : 1, helps ? "" : "the reset has failed");
  }
  const bool is_bad = job.step == Step::kQuarantineJob && stage_.jobs_chance.happens(0.5);
  // Clears latched findings, with any result of the diagnostics.
  if (job.step == Step::kQuarantineJob && stage_.jobs_chance.happens(0.6))
    fleet_.reset_gpus(machine);
  exit(job, is_bad ? 1 : 0, is_bad ? kFailure : "");
}

// A deleted Job is gone with its pod.
void StepKubelets::collect(JobTruth& job) {
  if (job.is_cleared) return;
  const std::string path = kJobs + "/" + job.name;
  const Json made = stage_.kube.has(path) ? stage_.kube.get(path) : Json::object();
  if (string_at(member_at(made, "metadata"), "uid") != job.uid) {
    drop_pod(job);
    job.is_over = job.is_cleared = true;
    return;
  }
  if (job.is_over) return;
  const Remediation* const owner = stage_.truth.remediation(job.remediation);
  const bool is_owned = member_at(made["metadata"], "ownerReferences").is_array();
  if (is_owned && (owner == nullptr || owner->uid != job.remediation_uid))
    return remove(job, "its owner is gone");
  if (stage_.clock.steady() >= job.deadline) return fail(job, "DeadlineExceeded");
  const bool has_pod = stage_.kube.has(kJobPods + "/" + pod_of(job));
  if (has_pod && stage_.truth.node(job.node) == nullptr && stage_.jobs_chance.happens(0.3))
    return fail(job, "BackoffLimitExceeded");
  const Machine* const machine = fleet_.find(job.node);
  if (machine == nullptr || !job.runs_in || machine->provider_id() != job.instance) return;
  const bool is_of_this_boot = *job.runs_in == machine->boot_id(machine->boots);
  if (!is_of_this_boot && machine->is_ready) exit(job, 255, "", "Unknown");
}

void StepKubelets::keep_house() {
  if (!stage_.setting.has_jobs) return;
  for (JobTruth& job : stage_.jobs.all()) collect(job);
}

void StepKubelets::go_on() {
  if (!stage_.setting.has_jobs) return;
  keep_house();
  std::vector<JobTruth*> going;
  for (JobTruth& job : stage_.jobs.all()) {
    if (!job.is_over && !job.is_stuck) going.push_back(&job);
  }
  if (!going.empty() && stage_.jobs_chance.happens(0.4)) go_on(*stage_.jobs_chance.pick(going));
}

void StepKubelets::go_on(JobTruth& job) {
  Chance& chance = stage_.jobs_chance;
  if (chance.happens(0.06)) return remove(job, "by somebody");
  Machine* const machine = fleet_.find(job.node);
  const bool works = machine != nullptr && machine->works() && machine->is_ready &&
                     !machine->is_restarting && machine->provider_id() == job.instance;
  if (!works) return;
  if (!job.runs_in) {
    const std::size_t how = chance.weighted({80, 10, 10});
    if (how == 0) return start(job, *machine);
    return how == 1 ? wait_for_ever(job) : exit(job, 128, "no such command", "StartError");
  }
  switch (chance.weighted({60, 10, 10, 10, 10})) {
    case 0:
      return exit_by_itself(job, *machine);
    case 1:
      return exit(job, 127, "nvidia-smi: not found");
    case 2:
      return exit(job, 1, job.step == Step::kGpuReset ? kBusy : "no such GPU");
    case 3:
      job.is_stuck = true;
      job.has_acted = true;
      return say(job, "runs for ever");
    default:
      return fail(job, "BackoffLimitExceeded");  // evicted
  }
}

void StepKubelets::end_all() {
  if (!stage_.setting.has_jobs) return;
  keep_house();
  for (JobTruth& job : stage_.jobs.all()) {
    Machine* const machine = fleet_.find(job.node);
    if (job.is_over || job.is_stuck || machine == nullptr || !machine->works()) continue;
    if (machine->provider_id() != job.instance || !machine->is_ready) continue;
    if (!job.runs_in && stage_.jobs_chance.happens(0.15)) {
      wait_for_ever(job);
      continue;
    }
    if (!job.runs_in) start(job, *machine);
    exit_by_itself(job, *machine);
  }
}

}  // namespace gpuward::remediator::simulation
