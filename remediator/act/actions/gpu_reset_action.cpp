#include "remediator/act/actions/gpu_reset_action.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

#include "core/model/gpu_reset_words.h"
#include "core/runtime/text.h"
#include "remediator/act/actions/operand_pause.h"
#include "remediator/act/actions/step_progress.h"
#include "remediator/model/diagnostics.h"
#include "remediator/model/gpu_vendor.h"
#include "remediator/policy/reset_rules.h"

namespace gpuward::remediator {
namespace {

// Exit code of gpuward-exporter for an unknown command or flag, and of nvidia-smi for an unknown
// flag.
constexpr int kWrongUsage = 2;

JobConclusion for_operator(std::string message) {
  return {.message = std::move(message), .needs_operator = true};
}

// The largest number of pods that a message names.
constexpr std::size_t kNamedPods = 4;
// How soon gpuward lists the pods of operands again, and decides a paused step again.
constexpr std::chrono::seconds kLookForPods{3};
constexpr std::chrono::milliseconds kAtOnce{0};
// Limit for the pauses of operands in one Remediation. gpuward resumes the operands before the
// reset if a guard forbids the reset. Another program may also resume the operands.
constexpr int kMostPauses = 3;
const std::string kPaused = "paused operands: ";

Operands operands_of(const StepRequest& request) {
  return operands_in(fact_of(request, kOperandsFact));
}

std::string name_all(const Operands& operands) { return "the operands " + text_of(operands); }

NodeOfOperands node_of(kube::Api& api, const StepRequest& request, const Permit& permit) {
  return {api, request.remediation.node, request.remediation.node_uid,
          fact_of(request, kJobNamespaceFact), permit};
}

// Returns how often the history records a pause. Each line of the history begins with its time.
std::ptrdiff_t pauses_of(const Remediation& remediation) {
  return std::ranges::count_if(remediation.status.history, [](std::string_view line) {
    return line.substr(line.find(' ') + 1).starts_with(kPaused);
  });
}

// Returns a failure because `which` was not gone in time. The policy decides what follows, as it
// does if a process has a GPU open.
StepProgress late(const StepRequest& request, const std::string& which) {
  StepProgress progress = with_call(
      progress_of(request, StepResult::kFailed, "not gone in time: " + which), Call::kNone);
  if (!request.step.job.escalates_when_busy) progress.facts[kNeedsOperatorFact] = "true";
  return progress;
}

bool has_restarted(const StepRequest& request, const JobOutcome& outcome) {
  const std::string before = fact_of(request, kJobBootFact);
  const bool is_known = !before.empty() && !outcome.boot_id.empty();
  return outcome.words.contains(kBootedSince) || (is_known && outcome.boot_id != before);
}

// Returns whether the kubelet ended the container, so that the container did not exit by itself.
bool was_ended(const JobOutcome& outcome) {
  constexpr int kKilled = 137, kTerminated = 143;
  return outcome.has_run &&
         (!outcome.exit_code || outcome.exit_code == kKilled || outcome.exit_code == kTerminated ||
          outcome.words.contains(kStoppedWhile));
}

bool is_begun(const StepRequest& request) {
  const StepRecord* const record = request.remediation.status.find(request.step.step);
  return record != nullptr && record->result != StepResult::kIntended;
}

}  // namespace

Facts GpuResetAction::facts_before(const kube::Node& node) const {
  Facts facts = StepJob::facts_before(node);
  const Operands operands = operands_to_pause(node, policy()->jobs.pause_labels);
  if (!operands.empty()) facts[kOperandsFact] = text_of(operands);
  return facts;
}

Result<std::optional<std::string>> GpuResetAction::obstacle(const StepRequest& request) {
  return objection_to_pause(request.node);
}

Operands GpuResetAction::running(const kube::Node& node) const {
  return running_operands(node, policy()->jobs.pause_labels);
}

Result<StepProgress> GpuResetAction::begin(const StepRequest& request) {
  // The Node may have changed since the decision, so this checks for other programs again.
  if (const auto why = objection_to_pause(request.node))
    return progress_of(request, StepResult::kIntended, *why);
  const Operands operands = operands_of(request);
  if (operands.empty()) return StepJob::begin(request);
  if (auto progress = refused(request)) return resumed(request, *std::move(progress));
  if (!running(request.node).empty()) return pause(request, operands);
  const auto pods = api().list_pods_on(request.node.meta.name);
  if (!pods) return held_back(request, with_context("reading its pods", pods.error()).error());
  if (!pods_of_operands(*pods, operands).empty()) return wait_for_pods(request, operands);
  return resumed(request, StepJob::begin(request));
}

Result<StepProgress> GpuResetAction::watch(const StepRequest& request) {
  const Operands operands = operands_of(request);
  // The operands still have to stop. With only a written intent, an earlier begin() may still have
  // created a Job.
  const bool is_pausing =
      !operands.empty() && is_begun(request) && !request.facts.contains(kJobFact);
  return is_pausing ? wait_for_pods(request, operands) : resumed(request, StepJob::watch(request));
}

Status GpuResetAction::abandon(const StepRequest& request) {
  if (auto ended = StepJob::abandon(request); !ended) return ended;
  if (operands_of(request).empty()) return {};
  const auto resumed = resume_operands(node_of(api(), request, request.permit));
  // The pod of the Job has not ended yet. The sweep in act/left_operands resumes the operands
  // later.
  if (resumed || resumed.error().kind == ErrorKind::kRefused) return {};
  return std::unexpected(resumed.error());
}

Result<StepProgress> GpuResetAction::pause(const StepRequest& request, const Operands& operands) {
  if (pauses_of(request.remediation) >= kMostPauses) {
    const std::string times = std::to_string(kMostPauses) + " times, and could not reset the GPUs";
    return resumed(request,
                   failed_for_operator(request, "paused " + name_all(operands) + " " + times));
  }
  const Permit permit = permit_of_call(request);
  const auto paused = pause_operands(node_of(api(), request, permit), operands);
  const bool may_wait = !paused && is_refused_by_own_policy(paused.error());
  if (!paused && !may_wait && is_final(paused.error().kind)) {
    return resumed(request, failed_for_operator(request, "pausing " + name_all(operands) + ": " +
                                                             paused.error().message));
  }
  if (!paused) return held_back(request, paused.error());
  StepProgress progress =
      progress_of(request, StepResult::kRunning, "waiting for the pods of " + name_all(operands));
  progress.look_again = kLookForPods;
  progress.news.push_back(kPaused + text_of(operands));
  return progress;
}

Result<StepProgress> GpuResetAction::wait_for_pods(const StepRequest& request,
                                                   const Operands& operands) {
  const auto node = api().get_node(request.node.meta.name);
  if (!node) return with_context("reading the node", node.error());
  if (const auto why = objection_to_pause(*node))
    return progress_of(request, StepResult::kIntended, *why);
  if (const Operands others = running(*node); !others.empty())
    return progress_of(request, StepResult::kIntended, name_all(others) + ": resumed");
  const auto pods = api().list_pods_on(request.node.meta.name);
  if (!pods) return with_context("reading its pods", pods.error());
  const std::vector<std::string> left = pods_of_operands(*pods, operands);
  if (left.empty()) {
    StepProgress progress =
        progress_of(request, StepResult::kIntended, name_all(operands) + ": paused");
    progress.look_again = kAtOnce;
    return progress;
  }
  const std::string which =
      "the pods of " + name_all(operands) + ": " +
      list_first(std::span(left).first(std::min(left.size(), kNamedPods)), left.size());
  if (request.ran > request.step.timeout) return resumed(request, late(request, which));
  StepProgress progress = progress_of(request, StepResult::kRunning, "waiting for " + which);
  progress.look_again = kLookForPods;
  return progress;
}

Result<StepProgress> GpuResetAction::resumed(const StepRequest& request,
                                             Result<StepProgress> progress) {
  const Operands operands = operands_of(request);
  const bool has_ended = progress && (progress->result == StepResult::kDone ||
                                      progress->result == StepResult::kFailed);
  if (operands.empty() || !has_ended) return progress;
  const auto done = resume_operands(node_of(api(), request, request.permit));
  if (done && !done->empty()) progress->news.push_back("resumed operands: " + text_of(*done));
  if (!done)
    progress->message += "; " + name_all(operands) + " stay paused: " + done.error().message;
  return progress;
}

std::optional<JobConclusion> GpuResetAction::refusal(const StepRequest& request,
                                                     const JobsPolicy& jobs) const {
  for (const std::string& prefix : request.step.job.not_on) {
    if (request.node.provider_id.starts_with(prefix)) {
      return JobConclusion{.message = "an in-place reset is not attempted on " + prefix +
                                      " (not_on in the policy)"};
    }
  }
  const auto vendor = gpu_vendor(request.node);
  if (!vendor) return for_operator("cannot tell how to reset its GPUs: " + vendor.error().message);
  if (auto why = objection_to_reset(request.step.job, jobs, *vendor))
    return for_operator("the node has " + std::string(name_of(*vendor)) + " GPUs, and " + *why);
  return std::nullopt;
}

JobConclusion GpuResetAction::judge(const StepRequest& request, const JobOutcome& outcome) const {
  if (outcome.exit_code == 0) {
    return {.result = StepResult::kDone, .message = "the GPUs were reset: " + outcome.message};
  }
  if (has_restarted(request, outcome)) {
    return {
        .result = StepResult::kDone,
        .message = "the machine has restarted since, which resets its GPUs: " + outcome.message};
  }
  const bool was_stopped = outcome.words.contains(kStoppedBefore);
  if ((was_stopped || was_ended(outcome)) && request.ran <= request.step.timeout) {
    // The machine may be restarting: its kubelet ends Jobs before the Node reports another boot.
    return {.result = StepResult::kRunning,
            .message = "waiting to see whether the machine restarts: " + outcome.message};
  }
  if (says_in_use(outcome.words)) {
    return {.message = "a process holds a GPU: " + outcome.message,
            .needs_operator = !request.step.job.escalates_when_busy,
            .has_acted = false};
  }
  const bool has_started =
      outcome.has_run && !could_not_start(outcome) && outcome.exit_code != kWrongUsage;
  const bool has_acted = has_started && !was_stopped;
  return {.message = outcome.message, .needs_operator = !has_acted, .has_acted = has_acted};
}

}  // namespace gpuward::remediator
