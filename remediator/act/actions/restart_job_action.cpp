#include "remediator/act/actions/restart_job_action.h"

#include <map>
#include <utility>

#include "core/runtime/child.h"
#include "core/runtime/json.h"
#include "core/runtime/text.h"
#include "remediator/act/actions/step_progress.h"

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

// Returns whether the step's time is over. The program has the same time, but starts later.
bool is_past_timeout(const StepRequest& request) { return request.ran > request.step.timeout; }

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

// The fact with the state of each job as a JSON object, written before the first change if gpuward
// restarts the jobs itself. All jobs share one fact, because a record holds few facts.
const std::string kJobStatesFact = "jobStates";

constexpr std::size_t kMostJobsAtOnce = 8;
constexpr std::size_t kNamedJobs = 10;
constexpr std::chrono::seconds kLookAtJobs{2};

bool restarts_itself(const StepRequest& request) { return request.facts.contains(kJobStatesFact); }

// Returns the state of each job by its name; empty if the fact is not valid JSON.
std::map<std::string, std::string> job_states(const StepRequest& request) {
  std::map<std::string, std::string> states;
  const auto json = parse_json(fact_of(request, kJobStatesFact));
  if (!json || !json->is_object()) return states;
  for (const auto& [job, state] : json->items()) {
    if (state.is_string()) states[job] = state.get<std::string>();
  }
  return states;
}

std::string mark_of(const Remediation& remediation) {
  return remediation.name + "/" + remediation.uid;
}

RestartClaim claim_of(const StepRequest& request) {
  const StepRecord* drain = request.remediation.status.find(Step::kDrain);
  const bool is_drained = drain != nullptr && drain->finished_at;
  return {.mark = mark_of(request.remediation),
          .drained_at = drain != nullptr ? drain->intent_at.value_or(request.now) : request.now,
          .now = request.now,
          .may_begin = !is_drained || request.now - *drain->finished_at >= kOwnRestart,
          .is_late = is_past_timeout(request)};
}

// Returns the state of all jobs as text, in the order of the drain.
std::string how_jobs_stand(const std::vector<std::string>& jobs,
                           const std::map<std::string, std::string>& words) {
  std::vector<std::string> named;
  for (const std::string& job : jobs) {
    const auto found = words.find(job);
    if (found == words.end() || named.size() == kNamedJobs) continue;
    named.push_back(job + " " + found->second);
  }
  return list_first(named, words.size());
}

}  // namespace

Result<StepProgress> RestartJobAction::begin(const StepRequest& request) {
  // The step runs once per Remediation. At a worse severity the drain only evicted the remaining
  // pods.
  if (has_run_before(request))
    return progress_of(request, StepResult::kDone,
                       "the step already ran in this remediation and does not run again");
  const std::vector<std::string> jobs = jobs_drained(request.remediation);
  if (jobs.empty())
    return progress_of(request, StepResult::kDone, "no job lost a pod on this node");
  if (request.step.program.empty()) {
    StepProgress progress = progress_of(request, StepResult::kRunning, "restarting the jobs");
    progress.facts[kJobStatesFact] = "{}";
    progress.look_again = std::chrono::milliseconds(0);
    return progress;
  }
  if (auto allowed = request.permit(); !allowed) return held_back(request, allowed.error());
  if (!runs_.start(request.remediation.name, command_for(request, jobs)))
    return progress_of(request, StepResult::kIntended,
                       "waiting: too many restart programs are running");
  return going_on(request);
}

Result<StepProgress> RestartJobAction::watch(const StepRequest& request) {
  if (restarts_itself(request)) return restart_jobs(request);
  const StepRecord* record = request.remediation.status.find(Step::kRestartJob);
  const bool is_begun = record != nullptr && record->result != StepResult::kIntended;
  if (request.step.program.empty() && !is_begun)
    return progress_of(request, StepResult::kIntended, "no job was restarted");
  return watch_program(request);
}

StepProgress RestartJobAction::restart_jobs(const StepRequest& request) {
  const RestartClaim claim = claim_of(request);
  const std::vector<std::string> jobs = jobs_drained(request.remediation);
  StepProgress progress = progress_of(request, StepResult::kDone, "");
  progress.look_again = kLookAtJobs;
  std::map<std::string, std::string> states = job_states(request), words;
  std::size_t at_once = 0;
  bool has_failure = false;
  for (const std::string& job : jobs) {
    std::string& known = states[job];
    if (is_settled(known)) {
      words[job] = known;
    } else if (at_once++ < kMostJobsAtOnce) {
      const JobProgress now = restarter_.advance(job, known, claim, permit_of_call(request));
      if (is_intended(now.known)) progress.look_again = std::chrono::milliseconds(0);
      if (now.known != known && !is_intended(now.known))
        progress.news.push_back(job + " " + now.words);
      known = now.known;
      words[job] = now.words;
    }
    has_failure |= has_failed(known);
    if (!is_settled(known)) progress.result = StepResult::kRunning;
  }
  std::erase_if(states, [](const auto& state) { return state.second.empty(); });
  progress.facts[kJobStatesFact] = dump_json(states);
  const bool is_over = progress.result == StepResult::kDone;
  if (is_over && has_failure) progress.result = StepResult::kFailed;
  progress.message = how_jobs_stand(jobs, words);
  return progress;
}

StepProgress RestartJobAction::watch_program(const StepRequest& request) {
  const ChildRuns::Look now = runs_.look(request.remediation.name);
  if (now.ended) return judge(request, *now.ended);
  if (now.is_known && !is_past_timeout(request)) return going_on(request);
  if (now.is_known) {
    runs_.stop(request.remediation.name);
    return progress_of(request, StepResult::kFailed,
                       name_of_program(request) + " did not end in time and was stopped");
  }
  // Another process started the program and then died or lost the leadership.
  return progress_of(request, StepResult::kFailed,
                     "cannot tell whether the program ran; it is not started again");
}

// Resumes all suspended jobs. After an error abandon() is called again, so that the Remediation
// does not end while a job is suspended.
Status RestartJobAction::abandon(const StepRequest& request) {
  runs_.stop(request.remediation.name);
  if (!restarts_itself(request)) return {};
  Status all;
  for (const auto& [job, known] : job_states(request)) {
    if (is_settled(known)) continue;
    const auto given =
        restarter_.give_back(job, known, mark_of(request.remediation), permit_of_call(request));
    if (!given) all = fail(ErrorKind::kUnavailable, given.error().message);
  }
  return all;
}

}  // namespace gpuward::remediator
