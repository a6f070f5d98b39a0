#include "remediator/policy/foreign_alerts.h"

#include <algorithm>
#include <optional>

#include "remediator/model/pod_facts.h"
#include "remediator/policy/policy_sections.h"

namespace gpuward::remediator {
namespace {

void read_match(const YamlMap& map, ForeignAlertRule& rule) {
  const YamlMap match = map.map("match", "labels that the alert must have, all of them; required");
  for (const auto& [label, value] : match.entries("LABEL", "alertname"))
    rule.match[label] = value.scalar("value of that label; `*` and `?` are wildcards");
  const bool has_empty =
      std::ranges::any_of(rule.match, [](const auto& wanted) { return wanted.second.empty(); });
  if (rule.match.empty() || has_empty) {
    map.reject("match", "must name labels of the alert, each with a value such as DcgmXid*");
  }
}

ForeignAlertRule read_rule_of_others(const YamlMap& map) {
  ForeignAlertRule rule;
  read_match(map, rule);
  map.read("node_label", rule.node_label,
           "the label whose value is the node, with or without a port");
  if (rule.node_label.empty()) map.reject("node_label", "must be the name of a label");
  map.require_word("severity", rule.severity, kSeverityWords, "severity of the finding");
  return rule;
}

}  // namespace

const ForeignAlertRule* rule_for(std::span<const ForeignAlertRule> rules,
                                 const std::map<std::string, std::string>& labels) {
  const auto has = [&](const auto& wanted) {
    const auto found = labels.find(wanted.first);
    return found != labels.end() && matches_glob(wanted.second, found->second);
  };
  const auto rule = std::ranges::find_if(
      rules, [&](const ForeignAlertRule& known) { return std::ranges::all_of(known.match, has); });
  return rule == rules.end() ? nullptr : &*rule;
}

std::string_view without_port(std::string_view address) {
  const auto colon = address.rfind(':');
  if (colon == std::string_view::npos || colon + 1 == address.size()) return address;
  const std::string_view port = address.substr(colon + 1);
  const bool is_port =
      std::ranges::all_of(port, [](char letter) { return letter >= '0' && letter <= '9'; });
  return is_port ? address.substr(0, colon) : address;
}

std::vector<ForeignAlertRule> read_foreign_alerts(const YamlMap& root) {
  std::vector<ForeignAlertRule> rules;
  for (const YamlMap& map :
       root.maps("foreign_alerts",
                 "alerts of other rules that count as findings; the first match applies"))
    rules.push_back(read_rule_of_others(map));
  return rules;
}

}  // namespace gpuward::remediator
