#include "remediator/policy/step_plan.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "remediator/policy/jobs_file.h"

namespace gpuward::remediator {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

// What it does not say stays the step's default.
void read_wait(const YamlMap& settings, WaitBefore& out) {
  settings.read("approval", out.approval);
  settings.read("window", out.window);
  settings.read("delay", out.delay, seconds(0), hours(24 * 7));
}

void read_volumes(const YamlMap& settings, VolumeWait& out) {
  settings.read("deadline", out.deadline, seconds(0), hours(24));
  std::string then = out.proceeds ? "proceed" : "hold";
  settings.read("on_deadline", then);
  if (then != "hold" && then != "proceed")
    settings.reject("on_deadline", "must be hold or proceed");
  out.proceeds = then == "proceed";
}

void read_program(const YamlMap& settings, std::vector<std::string>& out) {
  settings.read("program", out);
  if (out.empty() || out.front().empty()) settings.reject("program", "is required");
}

void read_settings(const YamlMap& settings, PlannedStep& out) {
  if (out.step == Step::kDrain) out.drain = read_drain_settings(settings, std::move(out.drain));
  if (out.step == Step::kTerminate) read_volumes(settings.map("volumes"), out.volumes);
  if (is_job(out.step)) out.job = read_job_settings(settings, out.step, std::move(out.job));
  if (out.step == Step::kNotify) settings.read("sinks", out.sinks);
  if (out.step == Step::kRestartJob) read_program(settings, out.program);
  if (out.timeout.count() > 0) {
    // While the program runs, one of a few threads waits for it; all else is looked at again.
    const milliseconds longest = out.step == Step::kRestartJob ? minutes(10) : hours(24 * 7);
    settings.read("timeout", out.timeout, seconds(10), longest);
  }
  if (out.step != Step::kVerify) return;
  settings.read("soak", out.soak, seconds(0), hours(24));
  if (out.soak >= out.timeout) settings.reject("soak", "must be shorter than the timeout");
}

bool has(const std::vector<PlannedStep>& plan, Step step) {
  return std::ranges::find(plan, step, &PlannedStep::step) != plan.end();
}

milliseconds timeout_of(Step step) {
  switch (step) {
    case Step::kCollectEvidence:
      return minutes(5);
    case Step::kRestartJob:
      return minutes(1);
    case Step::kGpuReset:
      return minutes(10);
    case Step::kReboot:
      return minutes(20);
    case Step::kQuarantineJob:
      return hours(4);  // as long as gpuward-exporter quarantine holds its claim
    case Step::kNcclTest:
      return hours(1);  // the exporter gives check 5 half of it
    case Step::kNcclPairs:
      return minutes(40);  // a pair has 10 min; half of it may go by until the others are there
    case Step::kTerminate:
    case Step::kVerify:
      return minutes(45);
    case Step::kTaint:
    case Step::kCordon:
    case Step::kDrain:
    case Step::kReturn:
    case Step::kNotify:
      break;
  }
  return milliseconds(0);
}

// Why `step` cannot follow what is planned already; nullptr where it can.
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
  const bool needs_cordon = !is_mark(step) && step != Step::kNotify;
  if (needs_cordon && !has(plan, Step::kCordon)) return "a step after cordon needs the cordon";
  const bool needs_drain = step > Step::kDrain && step < Step::kVerify;
  if (needs_drain && !has(plan, Step::kDrain)) {
    return "restart-job, gpu-reset, reboot, quarantine-job, nccl-test and terminate need drain "
           "before them";
  }
  if (has(plan, Step::kTerminate) && step != Step::kVerify) {
    return "only verify comes after terminate: the node is gone with its machine";
  }
  if (has(plan, Step::kReturn)) {
    return "nothing comes after return-to-service: sinks are told of it as closed";
  }
  if (step == Step::kReturn && !has(plan, Step::kVerify)) {
    return "return-to-service needs verify before it";
  }
  return nullptr;
}

}  // namespace

const PlannedStep* replacement_wait(const std::vector<PlannedStep>& plan) {
  if (!has(plan, Step::kTerminate)) return nullptr;
  const auto found = std::ranges::find(plan, Step::kVerify, &PlannedStep::step);
  return found == plan.end() ? nullptr : &*found;
}

PlannedStep planned(Step step) {
  PlannedStep plan{
      .step = step, .before = {}, .timeout = timeout_of(step), .soak = {}, .drain = {}};
  if (step == Step::kVerify) plan.soak = minutes(10);
  if (step == Step::kTerminate) plan.before.approval = true;
  if (step == Step::kNcclPairs) plan.job.min_bus_bandwidth = 350;
  return plan;
}

std::vector<PlannedStep> read_plan(const YamlMap& severities, std::string_view key,
                                   const DrainSettings& drain) {
  return read_plan_after({}, severities, key, drain);
}

std::vector<PlannedStep> read_plan_after(const std::vector<PlannedStep>& before,
                                         const YamlMap& severities, std::string_view key,
                                         const DrainSettings& drain) {
  std::vector<PlannedStep> plan = before;
  std::optional<YamlMap> wait;
  const auto refuse = [&](const std::string& why) {
    severities.reject(key, why);
    return std::vector<PlannedStep>();
  };
  for (const auto& [word, settings] : severities.named_items(key)) {
    if (word == "wait") {
      wait = settings;
      continue;
    }
    const auto step = parse_step(word);
    if (!step) {
      return refuse(
          "each step must be one of taint, cordon, notify, wait, collect-evidence, drain, "
          "restart-job, gpu-reset, "
          "reboot, quarantine-job, nccl-test, nccl-pairs, terminate, verify, return-to-service");
    }
    if (step == Step::kNcclPairs && before.empty())
      return refuse("nccl-pairs stands in way_back alone");
    if (const char* why = objection_to_next(plan, *step)) return refuse(why);
    if (wait && is_mark(*step)) return refuse("taint and cordon wait for nothing");
    if (wait && has(plan, Step::kTerminate)) return refuse("verify after terminate has no wait");
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
