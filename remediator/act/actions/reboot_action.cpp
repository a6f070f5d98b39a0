#include "remediator/act/actions/reboot_action.h"

#include "core/kube/objects.h"
#include "core/runtime/clock.h"
#include "remediator/act/actions/operand_pause.h"
#include "remediator/act/actions/step_progress.h"
#include "remediator/model/silent_alerts.h"

namespace gpuward::remediator {
namespace {

// Exit codes of gpuward-exporter. kRequested: it requested the restart. kDidNothing: the machine
// has booted since, or the pod was to stop. kWrongUsage: it does not know the command, or cannot
// restart this machine.
constexpr int kRequested = 0, kDidNothing = 1, kWrongUsage = 2;

// How long a reset may still run after gpuward gave it up. The pod has 4 min to end; a pod that
// hangs longer may be the reason for the restart.
constexpr std::chrono::minutes kResetEndsWithin{5};

// Returns whether the intent is for a Job. A later policy may restart the machine in another way.
bool is_by_job(const StepRequest& request) { return request.facts.contains(kJobNamespaceFact); }

Machine machine_of(const kube::Node& node, const std::string& remediation = {}) {
  return {.remediation = remediation,
          .node = node.meta.name,
          .node_uid = node.meta.uid,
          .provider_id = node.provider_id,
          .boot_id = node.boot_id,
          .labels = node.meta.labels};
}

}  // namespace

JobConclusion RebootJob::judge(const StepRequest& request, const JobOutcome& outcome) const {
  // The node has restarted, but the view of the cluster is older. The next check finds the restart.
  const bool has_booted =
      !outcome.boot_id.empty() && outcome.boot_id != fact_of(request, kBootBeforeFact);
  if (has_booted) return {.result = StepResult::kRunning, .message = "the node has restarted"};
  const bool is_impossible = could_not_start(outcome) || outcome.exit_code == kWrongUsage;
  JobConclusion verdict{.message = outcome.message, .needs_operator = true, .call = Call::kNone};
  if (is_impossible) return verdict;
  // Only exit code 0 says that the restart will come, because a pod also ends for other reasons.
  // The kubelet of a restarting machine may not have reported that the container started.
  const bool did_nothing = outcome.exit_code == kDidNothing || !outcome.may_have_run;
  verdict.call = outcome.exit_code == kRequested ? Call::kAccepted
                 : did_nothing                   ? Call::kNone
                                                 : Call::kUnknown;
  verdict.needs_operator = verdict.call != Call::kAccepted;
  const bool has_time = request.ran <= request.step.timeout;
  if (has_time) verdict.result = StepResult::kRunning;
  verdict.message = (has_time ? "waiting for the node to report a new boot ID: "
                              : "the node has reported no new boot ID: ") +
                    outcome.message;
  return verdict;
}

Result<StepProgress> RebootJob::watch(const StepRequest& request) {
  auto progress = StepJob::watch(request);
  if (!progress) return progress;
  if (value_at(progress->facts, kCallFact) == to_string(Call::kNone)) {
    progress->facts.erase(kRestartsBeforeFact);
  } else if (progress->facts.contains(kHasRunFact) || progress->result == StepResult::kFailed) {
    progress->facts.try_emplace(kRestartsBeforeFact, to_rfc3339_ms(request.now + kRestartsWithin));
  }
  return progress;
}

bool RebootAction::takes_job(const kube::Node& node) const {
  return job_.is_wanted() && !provider_.can(MachineAction::kReboot, machine_of(node));
}

Facts RebootAction::facts_before(const kube::Node& node) const {
  Facts facts = {{kBootBeforeFact, node.boot_id},
                 {kInstanceFact, node.provider_id},
                 {kCallFact, std::string(to_string(Call::kUnknown))}};
  if (takes_job(node)) facts.merge(job_.facts_before(node));
  return facts;
}

Result<std::optional<std::string>> RebootAction::obstacle(const StepRequest& request) {
  // A silent node has no obstacle. begin() fails on it instead, because an operator must know.
  const bool is_silent = rests_on_proofs(Step::kReboot, request.remediation);
  if (is_silent) return std::nullopt;
  if (!is_ready(request.node) && takes_job(request.node))
    return "the node is not Ready: its kubelet would not start the Job that restarts the machine";
  const StepRecord* const reset = request.remediation.status.find(Step::kGpuReset);
  const bool may_reset = reset != nullptr && reset->finished_at &&
                         request.now < *reset->finished_at + kResetEndsWithin;
  if (!may_reset) return std::nullopt;
  const auto resets = has_pod_of(Step::kGpuReset, api_, request.node.meta.name,
                                 value_at(reset->facts, kJobNamespaceFact), PodLife::kLive);
  if (!resets) return std::unexpected(resets.error());
  if (!*resets) return std::nullopt;
  return "the pod of the step gpu-reset still runs on the node";
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
  if (is_by_job(request)) {
    auto begun = job_.begin(request);
    if (begun && begun->result == StepResult::kFailed)
      return with_call(*std::move(begun), Call::kNone);  // No Job was created.
    return begun;
  }
  const auto asked =
      provider_.reboot(machine_of(request.node, request.remediation.name), permit_of_call(request));
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
  const bool has_job = is_by_job(request);
  if (request.node.provider_id != fact_of(request, kInstanceFact)) {
    StepProgress progress =
        failed_for_operator(request, "the node now runs on a different instance");
    if (has_job) progress.facts[kJobLeftFact] = "true";
    return progress;
  }
  const bool is_same_boot = request.node.boot_id.empty() || request.node.boot_id == before;
  if (is_same_boot && has_job) return job_.watch(request);
  if (is_same_boot) {
    const StepRecord* record = request.remediation.status.find(Step::kReboot);
    const bool is_accepted = record != nullptr && call_of(*record) == Call::kAccepted;
    return progress_of(
        request, StepResult::kRunning,
        is_accepted
            ? "waiting for the node to report a new boot ID"
            : "restart requested, response unknown; the node has not reported a new boot ID");
  }
  // The machine counts as treated, even if another program has restarted it.
  StepProgress progress =
      progress_of(request, StepResult::kRunning, "the node has restarted and is not Ready yet");
  if (has_job) {
    progress = with_call(std::move(progress), Call::kAccepted);
    progress.facts[kJobLeftFact] = "true";  // The Job has no further use.
  }
  if (!is_ready(request.node)) {
    // Applies the time limit of a restart by Job. status_change.cpp applies the limit of a restart
    // that a provider has accepted.
    const bool is_over = has_job && request.ran > request.step.timeout;
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
