#include "remediator/actions/step_job.h"

#include "remediator/actions/job_template.h"
#include "remediator/actions/step_progress.h"

namespace gpuward::remediator {
namespace {

const std::string kJob = "job";
const std::string kExitCode = "exitCode";

std::string namespace_of(const StepRequest& order) { return fact_of(order, kJobNamespaceFact); }

std::string full_name(const StepRequest& order) {
  return namespace_of(order) + "/" + job_name(order);
}

std::string on_job(const StepRequest& order) { return "Job " + full_name(order); }

StepProgress running(std::string message, const StepRequest& order) {
  StepProgress progress = progress_of(order, StepResult::kRunning, std::move(message));
  progress.facts[kJob] = full_name(order);
  return progress;
}

const StepRecord* record_of(const StepRequest& order) {
  return order.remediation.status.find(order.step.step);
}

bool is_job_overdue(const StepRequest& order) {
  const StepRecord* record = record_of(order);
  return record != nullptr && record->intent_at &&
         order.now - *record->intent_at > order.step.timeout;
}

// Where only the intent stands, the Job was never made, and all that must be true before it can be
// looked at again; else somebody has taken it away.
StepProgress without_job(const StepRequest& order) {
  const StepRecord* record = record_of(order);
  if (record != nullptr && record->result == StepResult::kIntended) {
    return progress_of(order, StepResult::kIntended, on_job(order) + " was not made");
  }
  return failed_for_operator(order, "somebody has deleted " + on_job(order));
}

StepProgress foreign_job(const StepRequest& order) {
  return failed_for_operator(
      order, on_job(order) + " is not ours: its labels name another Remediation or step");
}

}  // namespace

Facts StepJob::facts_before(const kube::Node& node) const {
  return {{kJobNamespaceFact, policy_.get()->jobs.ns}, {kJobBootFact, node.boot_id}};
}

Result<StepProgress> StepJob::begin(const StepRequest& order) {
  if (auto why = why_pointless(order)) {
    return progress_of(order, StepResult::kFailed, std::move(*why));
  }
  const auto json = render_job(order, policy_.get()->jobs, namespace_of(order));
  if (!json) return failed_for_operator(order, json.error().message);
  const auto created = api_.create_job(namespace_of(order), *json, permit_of_call(order));
  if (created) return running(on_job(order) + " is made", order);
  if (created.error().kind == ErrorKind::kBlocked) return held_back(order, created.error());
  if (created.error().kind == ErrorKind::kAlreadyExists) return adopt(order);
  if (!is_final(created.error().kind)) {
    return with_context("making " + on_job(order), created.error());
  }
  return failed_for_operator(order, "making " + on_job(order) + ": " + created.error().message);
}

// It was made by an earlier try whose answer was lost.
Result<StepProgress> StepJob::adopt(const StepRequest& order) {
  const auto job = api_.get_job(namespace_of(order), job_name(order));
  if (!job) return with_context("reading " + on_job(order), job.error());
  if (!is_job_of(*job, order)) return foreign_job(order);
  return running(on_job(order) + " is made", order);
}

Result<StepProgress> StepJob::watch(const StepRequest& order) {
  const std::string ns = namespace_of(order);
  const std::string name = job_name(order);
  const auto job = api_.get_job(ns, name);
  if (!job && job.error().kind == ErrorKind::kNotFound) return without_job(order);
  if (!job) return with_context("reading " + on_job(order), job.error());
  if (!is_job_of(*job, order)) return foreign_job(order);
  const auto pods = api_.list_pods(ns, "job-name=" + name);
  if (!pods) return with_context("reading the pod of " + on_job(order), pods.error());
  JobOutcome outcome = outcome_of(*job, *pods);
  outcome.has_run |= order.facts.contains(kHasRunFact);
  StepProgress progress = running(on_job(order) + ": " + outcome.message, order);
  if (outcome.has_run) progress.facts[kHasRunFact] = "true";
  if (!outcome.is_over && !is_job_overdue(order)) return progress;
  if (!outcome.is_over) {
    const auto gone = give_up(order);
    outcome.message = "not done in time: " + outcome.message;
    if (!gone) {
      outcome.message += "; " + on_job(order) + " could not be deleted: " + gone.error().message;
      progress.facts[kJobLeftFact] = "true";
    }
  }
  if (!outcome.has_run && !outcome.exit_code)
    outcome.message += "; its container was never started";
  if (outcome.exit_code) progress.facts[kExitCode] = std::to_string(*outcome.exit_code);
  const JobConclusion verdict = judge(order, outcome);
  progress.result = verdict.result;
  const bool has_acted = outcome.has_run && verdict.has_acted;
  progress.facts[kCallFact] = to_string(has_acted ? Call::kAccepted : Call::kNone);
  progress.message = verdict.message;
  if (verdict.needs_operator) progress.facts[kNeedsOperatorFact] = "true";
  return progress;
}

Status StepJob::abandon(const StepRequest& order) {
  const auto job = api_.get_job(namespace_of(order), job_name(order));
  const bool is_gone = !job && job.error().kind == ErrorKind::kNotFound;
  if (is_gone || (job && !is_job_of(*job, order))) return {};
  if (!job) return with_context("reading " + on_job(order), job.error());
  const auto deleted = api_.delete_job(namespace_of(order), job_name(order));
  if (deleted || deleted.error().kind == ErrorKind::kNotFound) return {};
  return with_context("deleting " + on_job(order), deleted.error());
}

// Where it may not be deleted now, the end of the Remediation or its own deadline ends it.
Status StepJob::give_up(const StepRequest& order) {
  if (auto allowed = order.permit(); !allowed) return allowed;
  return abandon(order);
}

}  // namespace gpuward::remediator
