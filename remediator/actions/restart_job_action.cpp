#include "remediator/actions/restart_job_action.h"

#include <utility>

#include "core/runtime/child.h"
#include "core/runtime/json.h"
#include "core/runtime/text.h"
#include "remediator/actions/step_progress.h"

namespace gpuward::remediator {
namespace {

constexpr std::size_t kMostProgramOutput = 64U << 10U;
constexpr std::size_t kLongestComplaint = 300;
constexpr std::chrono::milliseconds kLookAtProgram{500};

ChildCommand command_for(const StepRequest& order, const std::vector<std::string>& jobs) {
  ChildCommand command;
  command.program = order.step.program.front();
  command.arguments.assign(order.step.program.begin() + 1, order.step.program.end());
  command.input = dump_json({{"action", "restart-job"},
                             {"remediation", order.remediation.name},
                             {"node", order.node.meta.name},
                             {"nodeUID", order.node.meta.uid},
                             {"severity", std::string(to_string(order.remediation.severity))},
                             {"errorClass", error_class_of(order.remediation)},
                             {"jobs", jobs}}) +
                  "\n";
  command.max_output_bytes = kMostProgramOutput;
  command.timeout = order.step.timeout;
  command.grace = std::chrono::seconds(2);
  return command;
}

std::string name_of_program(const StepRequest& order) {
  return order.step.program.empty() ? "the program" : order.step.program.front();
}

StepProgress going_on(const StepRequest& order) {
  StepProgress progress =
      progress_of(order, StepResult::kRunning, name_of_program(order) + " runs");
  progress.look_again = kLookAtProgram;
  return progress;
}

// The program has the same time, but begins later.
bool is_past_timeout(const StepRequest& order) {
  const StepRecord* record = order.remediation.status.find(Step::kRestartJob);
  return record != nullptr && record->intent_at &&
         order.now - *record->intent_at > order.step.timeout;
}

bool has_run_before(const StepRequest& order) {
  const StepRecord* record = order.remediation.status.find(Step::kRestartJob);
  return record != nullptr && record->attempts > 1;
}

StepProgress judge(const StepRequest& order, const Result<ChildResult>& ended) {
  if (!ended) return progress_of(order, StepResult::kFailed, ended.error().message);
  const std::string what = name_of_program(order) + " " + how_it_ended(*ended);
  if (ended->exit_code == 0) {
    const std::size_t jobs = jobs_drained(order.remediation).size();
    return progress_of(order, StepResult::kDone, what + " for " + std::to_string(jobs) + " jobs");
  }
  const std::string words = ended->complaint.substr(0, ended->complaint.find('\n'));
  return progress_of(order, StepResult::kFailed,
                     what + ": " + to_valid_utf8(trim(words), kLongestComplaint));
}

}  // namespace

Result<StepProgress> RestartJobAction::begin(const StepRequest& order) {
  // At a worse severity the node has been drained once more, of what was left.
  if (has_run_before(order))
    return progress_of(order, StepResult::kDone, "the program was called before: not again");
  const std::vector<std::string> jobs = jobs_drained(order.remediation);
  if (jobs.empty()) return progress_of(order, StepResult::kDone, "no job has lost a pod here");
  if (order.step.program.empty())
    return progress_of(order, StepResult::kFailed, "the policy names no program any more");
  if (auto allowed = order.permit(); !allowed) return held_back(order, allowed.error());
  if (!runs_.start(order.remediation.name, command_for(order, jobs)))
    return progress_of(order, StepResult::kIntended, "too many such programs run");
  return going_on(order);
}

Result<StepProgress> RestartJobAction::watch(const StepRequest& order) {
  const ChildRuns::Look now = runs_.look(order.remediation.name);
  if (now.ended) return judge(order, *now.ended);
  if (now.is_known && !is_past_timeout(order)) return going_on(order);
  if (now.is_known) {
    runs_.stop(order.remediation.name);
    return progress_of(order, StepResult::kFailed,
                       name_of_program(order) + " had not ended in time, and was ended");
  }
  // Another process has begun it, and does not lead any more or has died.
  return progress_of(order, StepResult::kFailed,
                     "nobody knows whether the program was called: it is not called again");
}

Status RestartJobAction::abandon(const StepRequest& order) {
  runs_.stop(order.remediation.name);
  return {};
}

}  // namespace gpuward::remediator
