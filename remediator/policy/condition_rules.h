// Which conditions of a node are findings: the rules that take over from Draino. Pure; read from
// YAML by read_condition_rules(), applied to the nodes that are known by records/cluster_view,
// turned into alert signals by sources/condition_source.
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
  std::vector<std::string> labels;  // "key" or "key=value"; of a node that it is for, all of them
  bool drains = false;              // it alone justifies a drain, without the exporter's report
  std::vector<std::string> reasons = {};  // the condition must give one of them; empty: any
};

// A condition of a type that a rule names, whatever its status, on a node that the rule is for.
struct ConditionSeen {
  std::string node;
  std::string uid;  // of the Node
  ConditionRule rule;
  std::string status;
  // Its last transition, which some writers reset while the status stays: sources/condition_source.
  std::chrono::system_clock::time_point since;
};

// What the fingerprints of such evidence begin with.
inline constexpr std::string_view kConditionOrigin = "condition.";
// The same for all rules of that type, status and reasons.
[[nodiscard]] std::string fingerprint_of(const ConditionRule& rule);

// The first rule of one type and status counts that is for the node and the condition's reason.
// Conditions that do not say since when they are so are left out.
[[nodiscard]] std::vector<ConditionSeen> seen_conditions(std::span<const ConditionRule> rules,
                                                         const kube::Node& node);

// The section `conditions`; docs/configuration.md has its keys. Faults are reported to the
// file.
[[nodiscard]] std::vector<ConditionRule> read_condition_rules(const YamlMap& root);

}  // namespace gpuward::remediator
