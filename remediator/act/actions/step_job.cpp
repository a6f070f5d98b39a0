#include "remediator/act/actions/step_job.h"

#include "remediator/act/actions/job_template.h"
#include "remediator/act/actions/step_progress.h"
#include "remediator/model/diagnostics.h"

namespace gpuward::remediator {
namespace {

std::string namespace_of(const StepRequest& request) { return fact_of(request, kJobNamespaceFact); }

std::string full_name(const StepRequest& request) {
  return namespace_of(request) + "/" + job_name(request);
}

std::string on_job(const StepRequest& request) { return "Job " + full_name(request); }

StepProgress running(std::string message, const StepRequest& request) {
  StepProgress progress = progress_of(request, StepResult::kRunning, std::move(message));
  progress.facts[kJobFact] = full_name(request);
  return progress;
}

const StepRecord* record_of(const StepRequest& request) {
  return request.remediation.status.find(request.step.step);
}

bool is_job_overdue(const StepRequest& request) { return request.ran > request.step.timeout; }

// Returns the progress if the Job does not exist. With only a recorded intent, the Job was never
// created and the guards can be checked again. Otherwise another client has deleted the Job.
StepProgress without_job(const StepRequest& request) {
  const StepRecord* record = record_of(request);
  if (record != nullptr && record->result == StepResult::kIntended) {
    return progress_of(request, StepResult::kIntended, on_job(request) + " was not created");
  }
  return failed_for_operator(
      request, on_job(request) + " no longer exists, and this step did not delete it");
}

StepProgress foreign_job(const StepRequest& request) {
  return failed_for_operator(
      request,
      on_job(request) +
          " does not belong to this step: its gpuward.dev labels are missing or do not match");
}

}  // namespace

Facts StepJob::facts_before(const kube::Node& node) const {
  return {{kJobNamespaceFact, policy_.get()->jobs.ns}, {kJobBootFact, node.boot_id}};
}

std::optional<StepProgress> StepJob::refused(const StepRequest& request) const {
  const auto why = refusal(request, policy_.get()->jobs);
  if (!why) return std::nullopt;
  return why->needs_operator ? failed_for_operator(request, why->message)
                             : progress_of(request, StepResult::kFailed, why->message);
}

Result<StepProgress> StepJob::begin(const StepRequest& request) {
  if (auto progress = refused(request)) return *std::move(progress);
  const auto policy = policy_.get();
  const auto json = render_job(request, policy->jobs, namespace_of(request));
  if (!json) return failed_for_operator(request, json.error().message);
  const auto created = api_.create_job(namespace_of(request), *json, permit_of_call(request));
  if (created) return running(on_job(request) + " is made", request);
  if (created.error().kind == ErrorKind::kBlocked) return held_back(request, created.error());
  if (created.error().kind == ErrorKind::kAlreadyExists) return adopt(request);
  if (is_refused_by_own_policy(created.error())) return held_back(request, created.error());
  if (!is_final(created.error().kind)) {
    return with_context("making " + on_job(request), created.error());
  }
  return failed_for_operator(request, "making " + on_job(request) + ": " + created.error().message);
}

// Takes over an existing Job of that name. An earlier attempt with a lost answer may have created
// it.
Result<StepProgress> StepJob::adopt(const StepRequest& request) {
  const auto job = api_.get_job(namespace_of(request), job_name(request));
  if (!job) return with_context("reading " + on_job(request), job.error());
  if (!is_job_of(*job, request)) return foreign_job(request);
  const auto boot = job->meta.labels.find(std::string(kBootLabel));
  const bool is_of_this_boot =
      boot == job->meta.labels.end() || boot->second == fact_of(request, kJobBootFact);
  if (is_of_this_boot) return running(on_job(request) + " is made", request);
  // The Job was created late, and the machine has restarted since. The Job's end says nothing about
  // this boot.
  if (auto gone = give_up(request); !gone) return held_back(request, gone.error());
  return progress_of(request, StepResult::kIntended, on_job(request) + " was of another boot");
}

Result<StepProgress> StepJob::watch(const StepRequest& request) {
  const std::string ns = namespace_of(request);
  const std::string name = job_name(request);
  const auto job = api_.get_job(ns, name);
  if (!job && job.error().kind == ErrorKind::kNotFound) return without_job(request);
  if (!job) return with_context("reading " + on_job(request), job.error());
  if (!is_job_of(*job, request)) return foreign_job(request);
  const auto pods = api_.list_pods(ns, "job-name=" + name);
  if (!pods) return with_context("reading the pod of " + on_job(request), pods.error());
  JobOutcome outcome = outcome_of(*job, *pods);
  outcome.has_run |= request.facts.contains(kHasRunFact);
  outcome.may_have_run |= outcome.has_run;
  StepProgress progress = running(on_job(request) + ": " + outcome.message, request);
  if (outcome.has_run) progress.facts[kHasRunFact] = "true";
  if (!outcome.is_over && !is_job_overdue(request)) return progress;
  // Read before the Job is deleted, because a failure needs the boot.
  const auto boot = boot_now(request);
  if (!boot) return std::unexpected(boot.error());
  if (!outcome.is_over) {
    const auto gone = give_up(request);
    outcome.message = "not done in time: " + outcome.message;
    if (!gone) {
      outcome.message += "; " + on_job(request) + " could not be deleted: " + gone.error().message;
      progress.facts[kJobLeftFact] = "true";
    }
  }
  if (!outcome.has_run && !outcome.exit_code)
    outcome.message += outcome.may_have_run
                           ? "; the kubelet has not reported that the Job's container started"
                           : "; the Job's container never started";
  if (outcome.exit_code) progress.facts[kExitCodeFact] = std::to_string(*outcome.exit_code);
  outcome.boot_id = *boot;
  const JobConclusion verdict = judge(request, outcome);
  progress.result = verdict.result;
  progress.message = verdict.message;
  if (verdict.call) progress.facts[kCallFact] = to_string(*verdict.call);
  if (verdict.result == StepResult::kRunning) return progress;
  const bool has_acted = outcome.has_run && verdict.has_acted;
  if (!verdict.call)
    progress.facts[kCallFact] = to_string(has_acted ? Call::kAccepted : Call::kNone);
  if (verdict.needs_operator) progress.facts[kNeedsOperatorFact] = "true";
  const bool has_failed = verdict.result == StepResult::kFailed && outcome.has_run;
  if (is_diagnostic(request.step.step) && has_failed) progress.facts[kFailedBootFact] = *boot;
  return progress;
}

// Reads the boot from the API server. The view may be older than the Job's pod, and the machine may
// have restarted before the pod ran.
Result<std::string> StepJob::boot_now(const StepRequest& request) {
  const std::string& name = request.node.meta.name;
  const auto node = api_.get_node(name);
  if (!node && node.error().kind != ErrorKind::kNotFound)
    return with_context("reading node " + name, node.error());
  const bool is_there = node && node->meta.uid == request.node.meta.uid;
  return is_there ? node->boot_id : request.node.boot_id;
}

Status StepJob::abandon(const StepRequest& request) {
  const auto job = api_.get_job(namespace_of(request), job_name(request));
  const bool is_gone = !job && job.error().kind == ErrorKind::kNotFound;
  if (is_gone || (job && !is_job_of(*job, request))) return {};
  if (!job) return with_context("reading " + on_job(request), job.error());
  const auto deleted = api_.delete_job(namespace_of(request), job_name(request));
  if (deleted || deleted.error().kind == ErrorKind::kNotFound) return {};
  return with_context("deleting " + on_job(request), deleted.error());
}

// Deletes the Job. If that fails, the Job ends with the Remediation or at its own deadline.
Status StepJob::give_up(const StepRequest& request) {
  if (auto allowed = request.permit(); !allowed) return allowed;
  return abandon(request);
}

}  // namespace gpuward::remediator
