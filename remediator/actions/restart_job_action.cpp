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

ChildCommand command_for(const StepOrder& order, const std::vector<std::string>& jobs) {
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

bool has_run_before(const StepOrder& order) {
  const StepRecord* record = order.remediation.status.find(Step::kRestartJob);
  return record != nullptr && record->attempts > 1;
}

StepProgress run_program(const StepOrder& order, const std::vector<std::string>& jobs) {
  const auto ended = run_child(command_for(order, jobs), lasting_clock());
  if (!ended) return progress_of(order, StepResult::kFailed, ended.error().message);
  const std::string what = order.step.program.front() + " " + how_it_ended(*ended);
  if (ended->exit_code == 0) {
    return progress_of(order, StepResult::kDone,
                       what + " for " + std::to_string(jobs.size()) + " jobs");
  }
  const std::string words = ended->complaint.substr(0, ended->complaint.find('\n'));
  return progress_of(order, StepResult::kFailed,
                     what + ": " + to_valid_utf8(trim(words), kLongestComplaint));
}

}  // namespace

Result<StepProgress> RestartJobAction::begin(const StepOrder& order) {
  // At a worse severity the node has been drained once more, of what was left.
  if (has_run_before(order))
    return progress_of(order, StepResult::kDone, "the program was called before: not again");
  const std::vector<std::string> jobs = jobs_drained(order.remediation);
  if (jobs.empty()) return progress_of(order, StepResult::kDone, "no job has lost a pod here");
  if (order.step.program.empty())
    return progress_of(order, StepResult::kFailed, "the policy names no program any more");
  if (auto allowed = order.permit(); !allowed) return held_back(order, allowed.error());
  return run_program(order, jobs);
}

// Only the intent stands: a process has died in between.
Result<StepProgress> RestartJobAction::watch(const StepOrder& order) {
  return progress_of(order, StepResult::kFailed,
                     "nobody knows whether the program was called: it is not called again");
}

}  // namespace gpuward::remediator
