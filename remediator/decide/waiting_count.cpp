#include "remediator/decide/waiting_count.h"

#include <algorithm>
#include <string_view>

#include "remediator/cluster/conditions.h"

namespace gpuward::remediator {
namespace {

constexpr std::size_t kLongestRule = 48;
constexpr std::string_view kOther = "other";

std::string label_of(const std::string& rule) {
  if (rule.empty()) return "undecided";
  const bool is_word =
      rule.size() <= kLongestRule && std::ranges::all_of(rule, [](char letter) {
        return (letter >= 'a' && letter <= 'z') || letter == '.' || letter == '-' || letter == '_';
      });
  return is_word ? rule : std::string(kOther);
}

// A step is under way: the step itself limits how long that takes.
bool is_at_a_step(Phase phase) {
  return phase != Phase::kPending && holds(ConditionType::kProgressing, phase);
}

std::optional<WallTime> waits_since(const Remediation& remediation) {
  const RemediationStatus& status = remediation.status;
  if (status.phase == Phase::kPending) return remediation.created;
  const bool is_held = status.phase == Phase::kHeld;
  const auto known =
      status.conditions.find(is_held ? ConditionType::kHeld : ConditionType::kProgressing);
  const bool is_so = known != status.conditions.end() && known->second.holds == is_held;
  return is_so ? known->second.since : remediation.created;
}

void merge(Waiting& into, const Waiting& other) {
  into.number += other.number;
  if (other.since && (!into.since || *other.since < *into.since)) into.since = other.since;
}

}  // namespace

void WaitingCount::add(const Remediation& remediation) {
  const Phase phase = remediation.status.phase;
  if (!remediation.open() || is_at_a_step(phase)) return;
  merge(by_rule_[label_of(remediation.status.rule)][phase],
        {.phase = phase, .rule = {}, .number = 1, .since = waits_since(remediation)});
}

std::vector<Waiting> WaitingCount::take() const {
  std::map<std::string, std::map<Phase, Waiting>> kept;
  std::size_t taken = 0;
  for (const auto& [rule, phases] : by_rule_) {
    const std::string label = ++taken > kMostWaitingRules ? std::string(kOther) : rule;
    for (const auto& [phase, waiting] : phases) merge(kept[label][phase], waiting);
  }
  std::vector<Waiting> all;
  for (auto& [rule, phases] : kept) {
    for (auto& [phase, waiting] : phases) {
      waiting.phase = phase;
      waiting.rule = rule;
      all.push_back(std::move(waiting));
    }
  }
  return all;
}

}  // namespace gpuward::remediator
