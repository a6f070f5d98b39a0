#include "remediator/actions/reboot_action.h"

#include "core/kube/objects.h"
#include "core/runtime/clock.h"
#include "remediator/actions/step_progress.h"
#include "remediator/model/silent_alerts.h"

namespace gpuward::remediator {
namespace {

// gpuward-exporter ends so: it requested the restart; it did nothing, because the machine has
// booted since or the pod was to stop; it does not know the command, or cannot restart this
// machine. A container that cannot run it has one of the last two.
constexpr int kAsked = 0, kDidNothing = 1, kWrongUsage = 2, kCannotExecute = 126,
              kNoSuchCommand = 127;

// How the intent says it: a later policy restarts the machine by other means.
bool is_by_job(const StepRequest& request) { return request.facts.contains(kJobNamespaceFact); }

}  // namespace

JobConclusion RebootJob::judge(const StepRequest& request, const JobOutcome& outcome) const {
  // The view of the cluster is behind: the next look finds it restarted.
  const bool has_booted =
      !outcome.boot_id.empty() && outcome.boot_id != fact_of(request, kBootBeforeFact);
  if (has_booted) return {.result = StepResult::kRunning, .message = "the node has restarted"};
  if (could_not_start(outcome) || outcome.exit_code == kWrongUsage)
    return {.message = outcome.message, .needs_operator = true, .has_acted = false};
  if (request.ran <= request.step.timeout) {
    return {.result = StepResult::kRunning,
            .message = "waiting for the node to report a new boot ID: " + outcome.message};
  }
  // Only this end says that the command requested the restart: a pod ends for other reasons too.
  const bool has_acted = outcome.exit_code == kAsked;
  return {.message = "the node has reported no new boot ID: " + outcome.message,
          .needs_operator = !has_acted,
          .has_acted = has_acted};
}

// The record has at once whether the Job requested the restart, and until when that may come.
StepProgress RebootJob::noted(StepProgress progress, WallTime now) {
  const std::string exit_code = value_at(progress.facts, kExitCodeFact);
  if (!progress.facts.contains(kHasRunFact)) return progress;
  if (!progress.facts.contains(kRestartsBeforeFact))
    progress.facts[kRestartsBeforeFact] = to_rfc3339_ms(now + kRestartsWithin);
  const bool is_refusal =
      exit_code == std::to_string(kWrongUsage) || exit_code == std::to_string(kDidNothing) ||
      exit_code == std::to_string(kCannotExecute) || exit_code == std::to_string(kNoSuchCommand);
  if (is_refusal) progress.facts.erase(kRestartsBeforeFact);
  if (exit_code == std::to_string(kAsked)) return with_call(std::move(progress), Call::kAccepted);
  const bool is_unknown = progress.result == StepResult::kFailed && !is_refusal;
  return is_unknown ? with_call(std::move(progress), Call::kUnknown) : progress;
}

bool RebootAction::takes_job(const kube::Node& node) const {
  const Machine machine{.remediation = {},
                        .node = node.meta.name,
                        .node_uid = node.meta.uid,
                        .provider_id = node.provider_id,
                        .boot_id = node.boot_id,
                        .labels = node.meta.labels};
  return job_.is_wanted() && !provider_.can(MachineAction::kReboot, machine);
}

Facts RebootAction::facts_before(const kube::Node& node) const {
  Facts facts = {{kBootBeforeFact, node.boot_id},
                 {kInstanceFact, node.provider_id},
                 {kCallFact, std::string(to_string(Call::kUnknown))}};
  if (takes_job(node)) facts.merge(job_.facts_before(node));
  return facts;
}

Result<std::optional<std::string>> RebootAction::obstacle(const StepRequest& request) {
  // begin() fails for a silent one: an operator has to know.
  const bool is_silent = rests_on_proofs(Step::kReboot, request.remediation);
  if (is_ready(request.node) || is_silent || !takes_job(request.node)) return std::nullopt;
  return "the node is not Ready: its kubelet would not start the Job that restarts the machine";
}

Result<StepProgress> RebootAction::begin(const StepRequest& request) {
  if (request.node.boot_id.empty()) {
    return with_call(failed_for_operator(
                         request, "the node reports no boot ID, so a restart cannot be detected"),
                     Call::kNone);
  }
  if (is_by_job(request) && !is_ready(request.node)) {
    return with_call(failed_for_operator(request,
                                         "the node is not Ready, and its kubelet would not "
                                         "start the Job that restarts the machine"),
                     Call::kNone);
  }
  if (is_by_job(request)) return job_.begin(request);
  const auto asked = provider_.reboot({.remediation = request.remediation.name,
                                       .node = request.node.meta.name,
                                       .node_uid = request.node.meta.uid,
                                       .provider_id = request.node.provider_id,
                                       .boot_id = request.node.boot_id,
                                       .labels = request.node.meta.labels},
                                      permit_of_call(request));
  if (asked) {
    return with_call(progress_of(request, StepResult::kRunning, "the restart was requested"),
                     Call::kAccepted);
  }
  const Error& why = asked.error();
  if (is_not_now(why.kind)) return held_back(request, why);
  if (is_of_rights(why.kind))
    return with_call(failed_for_operator(request, why.message), Call::kNone);
  if (!may_have_arrived(why.kind)) {
    return with_call(
        progress_of(request, StepResult::kFailed, "the restart was refused: " + why.message),
        Call::kNone);
  }
  return progress_of(request, StepResult::kRunning,
                     "restart requested, response unknown; not retrying yet: " + why.message);
}

Result<StepProgress> RebootAction::watch(const StepRequest& request) {
  const std::string before = fact_of(request, kBootBeforeFact);
  const bool is_by_job_of_ours = is_by_job(request);
  if (request.node.provider_id != fact_of(request, kInstanceFact)) {
    StepProgress progress =
        failed_for_operator(request, "the node now runs on a different instance");
    if (is_by_job_of_ours) progress.facts[kJobLeftFact] = "true";
    return progress;
  }
  const bool is_same_boot = request.node.boot_id.empty() || request.node.boot_id == before;
  if (is_same_boot && is_by_job_of_ours) {
    auto progress = job_.watch(request);
    return progress ? RebootJob::noted(*std::move(progress), request.now) : progress;
  }
  if (is_same_boot) {
    const StepRecord* record = request.remediation.status.find(Step::kReboot);
    const bool is_accepted = record != nullptr && call_of(*record) == Call::kAccepted;
    return progress_of(
        request, StepResult::kRunning,
        is_accepted
            ? "waiting for the node to report a new boot ID"
            : "restart requested, response unknown; the node has not reported a new boot ID");
  }
  // The machine was treated, also if another program has restarted it.
  StepProgress progress =
      progress_of(request, StepResult::kRunning, "the node has restarted and is not Ready yet");
  if (is_by_job_of_ours) {
    progress = with_call(std::move(progress), Call::kAccepted);
    progress.facts[kJobLeftFact] = "true";  // of no use any more
  }
  if (!is_ready(request.node)) {
    // status_change.cpp keeps the limit of a restart that a provider has accepted.
    const bool is_over = is_by_job_of_ours && request.ran > request.step.timeout;
    if (is_over) {
      progress.result = StepResult::kFailed;
      progress.message = "not done in time: " + progress.message;
    }
    return progress;
  }
  progress.result = StepResult::kDone;
  progress.message = "the node is back with boot ID " + request.node.boot_id;
  return progress;
}

Status RebootAction::abandon(const StepRequest& request) {
  return is_by_job(request) ? job_.abandon(request) : Status();
}

}  // namespace gpuward::remediator
