#include <algorithm>
#include <array>
#include <string>

#include "remediator/policy/policy_sections.h"

namespace gpuward::remediator {
namespace {

constexpr std::array kWithRecovery = {Severity::kIsolate, Severity::kReboot, Severity::kReset};

bool has_step(const std::vector<PlannedStep>& list, Step step) {
  return std::ranges::find(list, step, &PlannedStep::step) != list.end();
}

bool may_lead_back(const PlannedStep& planned) {
  return is_diagnostic(planned.step) || planned.step == Step::kVerify ||
         planned.step == Step::kReturn || planned.step == Step::kNotify;
}

// The plan when all steps before the recovery have ended.
const std::vector<PlannedStep>& drained() {
  static const std::vector<PlannedStep> kDrained = {planned(Step::kTaint), planned(Step::kCordon),
                                                    planned(Step::kDrain)};
  return kDrained;
}

std::vector<PlannedStep> read_list(const YamlMap& section, std::string_view key) {
  auto list = read_plan(
      section, key, {},
      "steps to run when this severity's own steps end without a return to service", drained());
  if (list.empty()) return list;
  if (!std::ranges::all_of(list, may_lead_back)) {
    section.reject(key,
                   "may contain only quarantine-job, nccl-test, nccl-pairs, verify, "
                   "return-to-service and notify");
  } else if (!is_diagnostic(list.front().step) || list.front().step == Step::kNcclPairs) {
    section.reject(key, "must begin with quarantine-job or nccl-test");
  } else if (list.back().step != Step::kReturn) {
    section.reject(key, "must end with return-to-service");
  }
  return list;
}

// Says why no node could ever use this recovery; nullptr if one can.
const char* why_dead(const std::vector<PlannedStep>& plan, const std::vector<PlannedStep>& back) {
  if (!has_step(plan, Step::kDrain))
    return "the severity's own steps must drain the node: the diagnostics need the whole node";
  if (has_step(plan, Step::kTerminate))
    return "the severity's own steps terminate the machine: it cannot return";
  const bool is_twice = std::ranges::any_of(back, [&](const PlannedStep& step) {
    return is_diagnostic(step.step) && has_step(plan, step.step);
  });
  return is_twice ? "the severity's own steps already include the same diagnostic" : nullptr;
}

void refuse_dead(const YamlMap& section, const Policy& policy, std::string_view pool) {
  for (const Severity severity : kWithRecovery) {
    const auto& back = recovery_of(policy, pool, severity);
    if (back.empty()) continue;
    if (const char* why = why_dead(plan_of(policy, pool, severity), back))
      section.reject(to_string(severity), why);
  }
}

}  // namespace

std::map<Severity, std::vector<PlannedStep>> read_recovery(const YamlMap& section) {
  std::map<Severity, std::vector<PlannedStep>> lists;
  for (const Severity severity : kWithRecovery) {
    const std::string_view key = to_string(severity);
    if (section.has(key)) lists[severity] = read_list(section, key);
  }
  return lists;
}

void refuse_dead_recoveries(const YamlMap& root, const Policy& policy) {
  refuse_dead(root.map("recovery"), policy, {});
  const auto pools = root.maps("pools");
  for (std::size_t i = 0; i < policy.pools.size(); ++i)
    refuse_dead(pools[i].map("recovery"), policy, policy.pools[i].name);
}

}  // namespace gpuward::remediator
