// Which conditions of a node are findings: the rules that replace Draino. Pure;
// read_condition_rules() reads them from YAML, records/cluster_view applies them to the known
// nodes, and sources/condition_source turns them into alert signals.
#pragma once

#include <chrono>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/kube/objects.h"
#include "core/model/severity.h"
#include "core/runtime/yaml.h"

namespace gpuward::remediator {

struct ConditionRule {
  std::string type;
  std::string status = "True";            // True, False or Unknown
  std::chrono::milliseconds held_for{0};  // how long the condition must have had the status
  Severity severity = Severity::kNone;
  std::vector<std::string> labels;  // "key" or "key=value"; the rule applies to nodes with all of
                                    // them
  bool drains = false;              // it alone justifies a drain, without the exporter's report
  std::vector<std::string> reasons = {};  // the condition must give one of them; empty: any
};

// A condition whose type a rule names, with any status, on a node to which the rule applies.
struct ConditionSeen {
  std::string node;
  std::string uid;  // of the Node
  ConditionRule rule;
  std::string status;
  // Its last transition, which some programs reset while the status stays:
  // sources/condition_source.
  std::chrono::system_clock::time_point since;
};

// Prefix of the fingerprints of such evidence.
inline constexpr std::string_view kConditionOrigin = "condition.";
// The same for all rules of that type, status and reasons.
[[nodiscard]] std::string fingerprint_of(const ConditionRule& rule);

// The first rule of one type and status that applies to the node and the condition's reason counts.
// Conditions without a transition time are left out.
[[nodiscard]] std::vector<ConditionSeen> seen_conditions(std::span<const ConditionRule> rules,
                                                         const kube::Node& node);

// Reads the section `conditions`; docs/configuration.md has its keys. Faults are reported to the
// file.
[[nodiscard]] std::vector<ConditionRule> read_condition_rules(const YamlMap& root);

}  // namespace gpuward::remediator
