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

ChildCommand command_for(const StepRequest& request, const std::vector<std::string>& jobs) {
  ChildCommand command;
  command.program = request.step.program.front();
  command.arguments.assign(request.step.program.begin() + 1, request.step.program.end());
  command.input = dump_json({{"action", "restart-job"},
                             {"remediation", request.remediation.name},
                             {"node", request.node.meta.name},
                             {"nodeUID", request.node.meta.uid},
                             {"severity", std::string(to_string(request.remediation.severity))},
                             {"errorClass", error_class_of(request.remediation)},
                             {"jobs", jobs}}) +
                  "\n";
  command.max_output_bytes = kMostProgramOutput;
  command.timeout = request.step.timeout;
  command.grace = std::chrono::seconds(2);
  return command;
}

std::string name_of_program(const StepRequest& request) {
  return request.step.program.empty() ? "the program" : request.step.program.front();
}

StepProgress going_on(const StepRequest& request) {
  StepProgress progress =
      progress_of(request, StepResult::kRunning, name_of_program(request) + " runs");
  progress.look_again = kLookAtProgram;
  return progress;
}

// The program has the same time, but begins later.
bool is_past_timeout(const StepRequest& request) {
  const StepRecord* record = request.remediation.status.find(Step::kRestartJob);
  return record != nullptr && record->intent_at &&
         request.now - *record->intent_at > request.step.timeout;
}

bool has_run_before(const StepRequest& request) {
  const StepRecord* record = request.remediation.status.find(Step::kRestartJob);
  return record != nullptr && record->attempts > 1;
}

StepProgress judge(const StepRequest& request, const Result<ChildResult>& ended) {
  if (!ended) return progress_of(request, StepResult::kFailed, ended.error().message);
  const std::string what = name_of_program(request) + " " + how_it_ended(*ended);
  if (ended->exit_code == 0) {
    const std::size_t jobs = jobs_drained(request.remediation).size();
    return progress_of(request, StepResult::kDone, what + " for " + std::to_string(jobs) + " jobs");
  }
  const std::string words = ended->complaint.substr(0, ended->complaint.find('\n'));
  return progress_of(request, StepResult::kFailed,
                     what + ": " + to_valid_utf8(trim(words), kLongestComplaint));
}

}  // namespace

Result<StepProgress> RestartJobAction::begin(const StepRequest& request) {
  // At a worse severity the node has been drained once more, of what was left.
  if (has_run_before(request))
    return progress_of(request, StepResult::kDone, "the program was called before: not again");
  const std::vector<std::string> jobs = jobs_drained(request.remediation);
  if (jobs.empty()) return progress_of(request, StepResult::kDone, "no job has lost a pod here");
  if (request.step.program.empty())
    return progress_of(request, StepResult::kFailed, "the policy names no program any more");
  if (auto allowed = request.permit(); !allowed) return held_back(request, allowed.error());
  if (!runs_.start(request.remediation.name, command_for(request, jobs)))
    return progress_of(request, StepResult::kIntended, "too many such programs run");
  return going_on(request);
}

Result<StepProgress> RestartJobAction::watch(const StepRequest& request) {
  const ChildRuns::Look now = runs_.look(request.remediation.name);
  if (now.ended) return judge(request, *now.ended);
  if (now.is_known && !is_past_timeout(request)) return going_on(request);
  if (now.is_known) {
    runs_.stop(request.remediation.name);
    return progress_of(request, StepResult::kFailed,
                       name_of_program(request) + " had not ended in time, and was ended");
  }
  // Another process has begun it, and does not lead any more or has died.
  return progress_of(request, StepResult::kFailed,
                     "it is unknown whether the program was called: it is not called again");
}

Status RestartJobAction::abandon(const StepRequest& request) {
  runs_.stop(request.remediation.name);
  return {};
}

}  // namespace gpuward::remediator
