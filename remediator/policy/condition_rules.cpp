#include "remediator/policy/condition_rules.h"

#include <algorithm>

#include "core/runtime/text.h"
#include "remediator/model/place.h"
#include "remediator/policy/policy_sections.h"

namespace gpuward::remediator {
namespace {

constexpr YamlWord<std::string_view> kStatuses[] = {
    {"True", "True"}, {"False", "False"}, {"Unknown", "Unknown"}};

ConditionRule read_condition_rule(const YamlMap& map) {
  ConditionRule rule;
  map.require("type", rule.type, "type of the condition in the node's status.conditions");
  std::string_view status = "True";
  map.read_word("status", status, kStatuses, "status that the condition must have");
  rule.status = status;
  map.read("reasons", rule.reasons,
           "the condition must have one of these reasons; default: any reason");
  map.read("for", rule.held_for, std::chrono::seconds(0), std::chrono::hours(24),
           "how long the condition must have had that status");
  map.require_word("severity", rule.severity, kSeverityWords, "severity of the finding");
  read_node_labels(map, rule.labels, "labels that a node must have, all of them");
  map.read("drain", rule.drains,
           "allow a drain without a report from the exporter, as Draino does");
  if (rule.drains && rule.status == "Unknown")
    map.reject("drain",
               "must be false for status Unknown: an unknown state does not justify a drain");
  return rule;
}

// A condition with another status ends the finding, for any reason.
bool is_for_reason(const ConditionRule& rule, const kube::NodeCondition& condition) {
  return rule.reasons.empty() || condition.status != rule.status ||
         std::ranges::find(rule.reasons, condition.reason) != rule.reasons.end();
}

}  // namespace

std::string fingerprint_of(const ConditionRule& rule) {
  std::string text = rule.type + "=" + rule.status;
  for (const std::string& reason : rule.reasons) text += "," + reason;
  return std::string(kConditionOrigin) + short_hash(text);
}

std::vector<ConditionSeen> seen_conditions(std::span<const ConditionRule> rules,
                                           const kube::Node& node) {
  std::vector<ConditionSeen> seen;
  for (const ConditionRule& rule : rules) {
    if (!has_all_labels(node.meta.labels, rule.labels)) continue;
    const auto condition =
        std::ranges::find(node.conditions, rule.type, &kube::NodeCondition::type);
    if (condition == node.conditions.end() || !condition->transition) continue;
    if (!is_for_reason(rule, *condition)) continue;
    // Only one rule may open a finding; each rule that has opened one must see its end.
    const bool may_open = condition->status == rule.status;
    const bool is_known = std::ranges::any_of(seen, [&](const ConditionSeen& other) {
      return other.rule.type == rule.type && other.rule.status == rule.status &&
             (may_open || fingerprint_of(other.rule) == fingerprint_of(rule));
    });
    if (!is_known)
      seen.push_back(
          {node.meta.name, node.meta.uid, rule, condition->status, *condition->transition});
  }
  return seen;
}

std::vector<ConditionRule> read_condition_rules(const YamlMap& root) {
  std::vector<ConditionRule> rules;
  for (const YamlMap& map : root.maps("conditions", "node conditions that count as findings"))
    rules.push_back(read_condition_rule(map));
  return rules;
}

}  // namespace gpuward::remediator
