#include "remediator/policy/step_plan.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "remediator/policy/policy_sections.h"

namespace gpuward::remediator {
namespace {

std::vector<PlannedStep> plan_with(std::initializer_list<Step> steps, const DrainSettings& drain) {
  std::vector<PlannedStep> plan;
  for (const Step step : steps) {
    PlannedStep next = planned(step);
    next.drain = drain;
    plan.push_back(std::move(next));
  }
  return plan;
}

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

struct StepFacts {
  std::string_view about;
  milliseconds timeout{0};  // none
  std::string_view about_timeout = {};
};

// The default of restart-job with a program.
constexpr milliseconds kProgramTime = minutes(1);

// By Step.
constexpr std::array<StepFacts, 15> kFacts{{
    {"adds the taint"},
    {"cordons the node"},
    {"runs a Job that collects logs and states; a failure does not stop the steps", minutes(5),
     "time limit of the Job"},
    {},  // only gpuward itself plans it, for silent nodes
    {"evicts the pods"},
    {"restarts, as a whole, the jobs that lost pods: in the way that their kind allows, or with "
     "your "
     "program",
     minutes(10),
     "time limit for the old pods of the jobs to go, or for your program (default `1m`); the next "
     "step follows in any case"},
    {"runs a Job that resets the GPUs", minutes(10), "time limit of the Job"},
    {"restarts the machine", minutes(20), "time limit for the node to come back"},
    {"runs the long diagnostics as a Job",
     hours(5),  // the checks of a machine at their limits, one after another
     "time limit of the Job"},
    {"runs an NCCL test on the node as a Job", hours(1),  // the exporter gives check 5 half of it
     "time limit of the Job"},
    {"runs NCCL tests between pairs of nodes as Jobs", minutes(40),  // a pair has 10 min
     "time limit of the whole step; at most half of it is spent waiting for the other nodes"},
    {"terminates the machine", minutes(45), "time limit for the machine to terminate"},
    {"waits until the node is healthy", minutes(45),
     "time limit for the node to become healthy; after `terminate`, for a healthy replacement to "
     "join"},
    {"removes the taint and the cordon"},
    {"notifies sinks"},
}};
const StepFacts& facts_of(Step step) { return kFacts[static_cast<std::size_t>(step)]; }

constexpr YamlWord<bool> kVolumesOnDeadline[] = {{"hold", false}, {"proceed", true}};

// Keys that are absent keep the step's default.
void read_wait(const YamlMap& settings, WaitBefore& out) {
  settings.read("approval", out.approval,
                "wait for the approval of an operator; before `terminate` the default is `true`");
  settings.read("delay", out.delay, seconds(0), hours(24 * 7),
                "how long to wait after the previous step");
  settings.read("window", out.window,
                "name of the maintenance window to wait for, in `maintenance_windows`");
}

void read_volumes(const YamlMap& settings, VolumeWait& out) {
  settings.read("deadline", out.deadline, seconds(0), hours(24),
                "how long to wait after the drain for the volumes to detach");
  settings.read_word(
      "on_deadline", out.proceeds, kVolumesOnDeadline,
      "at that deadline: hold the node for an operator, or terminate the machine anyway");
}

void read_program(const YamlMap& settings, PlannedStep& out) {
  settings.read("program", out.program,
                "your program with its arguments; it reads the jobs that lost pods on stdin; "
                "default: gpuward restarts them");
  if (out.program.empty()) return;
  if (out.program.front().empty()) settings.reject("program", "must name a program");
  out.timeout = kProgramTime;
}

void read_settings(const YamlMap& settings, PlannedStep& out) {
  if (out.step == Step::kDrain) out.drain = read_drain_settings(settings, std::move(out.drain));
  if (out.step == Step::kNotify)
    settings.read("sinks", out.sinks,
                  "names of the sinks to notify, from `notifications.sinks`; default: all");
  if (out.step == Step::kRestartJob) read_program(settings, out);
  if (out.timeout.count() > 0) {
    // The healing steps wait for it.
    const milliseconds longest = out.step == Step::kRestartJob ? minutes(10) : hours(24 * 7);
    settings.read("timeout", out.timeout, seconds(10), longest, facts_of(out.step).about_timeout);
  }
  if (is_job(out.step)) out.job = read_job_settings(settings, out.step, std::move(out.job));
  if (out.step == Step::kTerminate)
    read_volumes(settings.map("volumes", "volumes that are still attached"), out.volumes);
  if (out.step != Step::kVerify) return;
  settings.read("soak", out.soak, seconds(0), hours(24),
                "how long the node must stay healthy; shorter than the timeout");
  if (out.soak >= out.timeout) settings.reject("soak", "must be shorter than the timeout");
}

bool has(const std::vector<PlannedStep>& plan, Step step) {
  return std::ranges::find(plan, step, &PlannedStep::step) != plan.end();
}

std::map<Severity, std::vector<PlannedStep>> plans_of_health_suite(const DrainSettings& drain) {
  const auto tested_after = [&](Step repair) {
    auto plan = plan_with({Step::kTaint, Step::kCordon, Step::kDrain, repair, Step::kQuarantineJob,
                           Step::kVerify, Step::kReturn},
                          drain);
    const auto quarantine = std::ranges::find(plan, Step::kQuarantineJob, &PlannedStep::step);
    quarantine->job.clears_latched = true;
    quarantine->on_failure = Severity::kIsolate;
    return plan;
  };
  return {{Severity::kReset, tested_after(Step::kGpuReset)},
          {Severity::kReboot, tested_after(Step::kReboot)},
          {Severity::kIsolate,
           plan_with({Step::kTaint, Step::kCordon, Step::kDrain, Step::kTerminate}, drain)}};
}

// Says why `step` cannot follow the steps planned so far; nullptr if it can.
const char* objection_to_next(const std::vector<PlannedStep>& plan, Step step) {
  if (has(plan, step)) return "names a step twice";
  const bool is_late = std::ranges::any_of(plan, [step](const PlannedStep& earlier) {
    return earlier.step != Step::kNotify && earlier.step > step;
  });
  if (is_late) {
    return "must be in the order taint, cordon, collect-evidence, drain, restart-job, gpu-reset, "
           "reboot, quarantine-job, nccl-test, nccl-pairs, terminate, verify, return-to-service";
  }
  if (step == Step::kNotify && plan.empty()) return "notify needs taint or cordon before it";
  const bool needs_cordon = !is_taint_or_cordon(step) && step != Step::kNotify;
  if (needs_cordon && !has(plan, Step::kCordon))
    return "every step except taint, cordon and notify needs cordon before it";
  const bool needs_drain = step > Step::kDrain && step < Step::kVerify;
  if (needs_drain && !has(plan, Step::kDrain)) {
    return "restart-job, gpu-reset, reboot, quarantine-job, nccl-test and terminate need drain "
           "before them";
  }
  if (has(plan, Step::kTerminate) && step != Step::kVerify) {
    return "only verify may follow terminate: the node is gone with its machine";
  }
  if (has(plan, Step::kReturn)) {
    return "return-to-service must be the last step: sinks receive the event `closed` after it";
  }
  if (step == Step::kReturn && !has(plan, Step::kVerify)) {
    return "return-to-service needs verify before it";
  }
  return nullptr;
}

}  // namespace

std::map<Severity, std::vector<PlannedStep>> default_plans(const Means& means,
                                                           const DrainSettings& drain) {
  if (means.preset == Preset::kHealthSuite) return plans_of_health_suite(drain);
  const auto marks = plan_with({Step::kTaint, Step::kCordon}, drain);
  DrainSettings gpu_drain = drain;
  gpu_drain.pods = DrainedPods::kGpu;
  std::map<Severity, std::vector<PlannedStep>> plans = {
      {Severity::kReset, marks},
      {Severity::kReboot, marks},
      {Severity::kIsolate,
       plan_with({Step::kTaint, Step::kCordon, Step::kDrain, Step::kTerminate}, drain)}};
  if (means.gpu_reset) {
    plans[Severity::kReset] = plan_with(
        {Step::kTaint, Step::kCordon, Step::kDrain, Step::kGpuReset, Step::kVerify, Step::kReturn},
        gpu_drain);
  }
  if (means.reboot) {
    plans[Severity::kReboot] = plan_with(
        {Step::kTaint, Step::kCordon, Step::kDrain, Step::kReboot, Step::kVerify, Step::kReturn},
        drain);
  }
  return plans;
}

const PlannedStep* replacement_wait(const std::vector<PlannedStep>& plan) {
  if (!has(plan, Step::kTerminate)) return nullptr;
  const auto found = std::ranges::find(plan, Step::kVerify, &PlannedStep::step);
  return found == plan.end() ? nullptr : &*found;
}

PlannedStep planned(Step step) {
  PlannedStep plan{
      .step = step, .before = {}, .timeout = facts_of(step).timeout, .soak = {}, .drain = {}};
  if (step == Step::kVerify) plan.soak = minutes(10);
  if (step == Step::kTerminate) plan.before.approval = true;
  if (step == Step::kNcclPairs) plan.job.min_bus_bandwidth = 350;
  return plan;
}

void describe_steps(const YamlMap& steps) {
  WaitBefore wait;
  read_wait(steps.map("wait", "delays the step after it"), wait);
  for (std::size_t i = 0; i < kFacts.size(); ++i) {
    PlannedStep step = planned(static_cast<Step>(i));
    if (step.step == Step::kOutOfService) continue;
    const std::string_view word = to_string(step.step);
    read_settings(step.step == Step::kDrain ? steps.map_like(word, word, "for this step only")
                                            : steps.map(word, kFacts[i].about),
                  step);
  }
}

std::vector<PlannedStep> read_plan(const YamlMap& severities, std::string_view key,
                                   const DrainSettings& drain, std::string_view about,
                                   const std::vector<PlannedStep>& before) {
  std::vector<PlannedStep> plan = before;
  std::optional<YamlMap> wait;
  const auto refuse = [&](const std::string& why) {
    severities.reject(key, why);
    return std::vector<PlannedStep>();
  };
  for (const auto& [word, settings] : severities.named_items(key, about)) {
    if (word == "wait") {
      wait = settings;
      continue;
    }
    const auto step = parse_step(word);
    if (!step || step == Step::kOutOfService) {
      return refuse(
          "each step must be one of taint, cordon, notify, wait, collect-evidence, drain, "
          "restart-job, gpu-reset, "
          "reboot, quarantine-job, nccl-test, nccl-pairs, terminate, verify, return-to-service");
    }
    if (step == Step::kNcclPairs && before.empty())
      return refuse("nccl-pairs is allowed only in recovery");
    if (const char* why = objection_to_next(plan, *step)) return refuse(why);
    if (wait && is_taint_or_cordon(*step))
      return refuse("taint and cordon cannot have a wait before them");
    if (wait && has(plan, Step::kTerminate))
      return refuse("verify after terminate cannot have a wait before it");
    PlannedStep next = planned(*step);
    if (wait) read_wait(*wait, next.before);
    wait.reset();
    next.drain = drain;
    read_settings(settings, next);
    plan.push_back(next);
  }
  if (wait) return refuse("wait needs a step after it");
  plan.erase(plan.begin(), plan.begin() + std::ssize(before));
  return plan;
}

}  // namespace gpuward::remediator
