// The YAML of the rules:
//
//   conditions:
//     - type: GPUProblem               # of the node's status.conditions
//       status: "True"                 # True | False | Unknown
//       for: 2m                        # held so long
//       severity: reset                # isolate | reboot | reset | monitor
//       labels: [pool=a100]            # of the nodes that it is for, all of them
//       drain: false                   # true: justifies a drain by itself, as Draino has it
//   drain_buffer: 10m                  # between such a drain and what was begun before it
#include "remediator/policy/condition_rules.h"

#include <algorithm>

#include "core/runtime/text.h"

namespace gpuward::remediator {
namespace {

bool is_for(const ConditionRule& rule, const kube::Labels& labels) {
  return std::ranges::all_of(rule.labels, [&](const std::string& selector) {
    const auto equals = selector.find('=');
    const auto found = labels.find(selector.substr(0, equals));
    if (found == labels.end()) return false;
    return equals == std::string::npos || found->second == selector.substr(equals + 1);
  });
}

ConditionRule read_condition_rule(const YamlMap& map) {
  ConditionRule rule;
  map.require("type", rule.type);
  map.read("status", rule.status);
  if (rule.status != "True" && rule.status != "False" && rule.status != "Unknown")
    map.reject("status", "must be one of True, False, Unknown");
  map.read("for", rule.held_for, std::chrono::seconds(0), std::chrono::hours(24));
  std::string word;
  map.require("severity", word);
  const auto severity = parse_severity(word);
  if (!word.empty() && (!severity || *severity == Severity::kNone))
    map.reject("severity", "must be one of isolate, reboot, reset, monitor");
  rule.severity = severity.value_or(Severity::kNone);
  map.read("labels", rule.labels);
  if (std::ranges::any_of(rule.labels, [](const std::string& selector) {
        return selector.empty() || selector.front() == '=';
      })) {
    map.reject("labels", "each entry must be `key` or `key=value`");
  }
  map.read("drain", rule.drains);
  if (rule.drains && rule.status == "Unknown")
    map.reject("drain", "Unknown says that nobody knows: it justifies no drain");
  return rule;
}

}  // namespace

std::string fingerprint_of(const ConditionRule& rule) {
  return std::string(kConditionOrigin) + short_hash(rule.type + "=" + rule.status);
}

std::vector<ConditionSeen> seen_conditions(std::span<const ConditionRule> rules,
                                           const kube::Node& node) {
  std::vector<ConditionSeen> seen;
  for (const ConditionRule& rule : rules) {
    if (!is_for(rule, node.meta.labels)) continue;
    const auto condition =
        std::ranges::find(node.conditions, rule.type, &kube::NodeCondition::type);
    if (condition == node.conditions.end() || !condition->transition) continue;
    const bool is_known = std::ranges::any_of(seen, [&](const ConditionSeen& other) {
      return other.rule.type == rule.type && other.rule.status == rule.status;
    });
    if (!is_known)
      seen.push_back({node.meta.name, rule, condition->status, *condition->transition});
  }
  return seen;
}

std::vector<ConditionRule> read_condition_rules(const YamlMap& root) {
  std::vector<ConditionRule> rules;
  for (const YamlMap& map : root.maps("conditions")) rules.push_back(read_condition_rule(map));
  return rules;
}

}  // namespace gpuward::remediator
