// The rules that make conditions of a node findings; they replace Draino. read_condition_rules()
// reads them from YAML, cluster/cluster_view applies them to the known nodes, and
// inbox/sources/condition_source makes alert signals of the results. Pure.
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
  // "key" or "key=value"; the rule applies to nodes with all of these labels.
  std::vector<std::string> labels;
  // The condition alone justifies a drain, without the exporter's report.
  bool drains = false;
  // The condition must have one of these reasons; empty: any reason.
  std::vector<std::string> reasons = {};
};

// A condition of a type that a rule names, with any status, on a node to which the rule applies.
struct ConditionSeen {
  std::string node;
  std::string uid;  // UID of the Node.
  ConditionRule rule;
  std::string status;
  // Last transition of the condition. Some programs reset it while the status stays; see
  // inbox/sources/condition_source.
  std::chrono::system_clock::time_point since;
};

// Prefix of the fingerprints of findings from conditions.
inline constexpr std::string_view kConditionOrigin = "condition.";
// Returns the same fingerprint for all rules with equal type, status and reasons.
[[nodiscard]] std::string fingerprint_of(const ConditionRule& rule);

// Returns the conditions of the node that a rule names. For each type and status, the first rule
// that applies to the node and the condition's reason counts. Conditions without a transition time
// are left out.
[[nodiscard]] std::vector<ConditionSeen> seen_conditions(std::span<const ConditionRule> rules,
                                                         const kube::Node& node);

// Reads the section `conditions`; docs/configuration.md has its keys. Faults are reported to the
// file.
[[nodiscard]] std::vector<ConditionRule> read_condition_rules(const YamlMap& root);

}  // namespace gpuward::remediator
