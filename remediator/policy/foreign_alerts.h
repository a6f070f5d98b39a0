// Rules for alerts of other programs (dcgm-exporter, kube-state-metrics, ...) that do not name a
// node and a remediation themselves. Pure; read from YAML by read_foreign_alerts(), used by
// inbox/sources/alertmanager_alerts.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/severity.h"
#include "core/runtime/yaml.h"

namespace gpuward::remediator {

struct ForeignAlertRule {
  std::map<std::string, std::string> match;  // Label -> value, with * and ?.
  // Alert label with the node's name; the value may have a port.
  std::string node_label = "node";
  Severity severity = Severity::kNone;
};

// Returns the first rule that matches the labels of an alert; null if there is none.
[[nodiscard]] const ForeignAlertRule* rule_for(std::span<const ForeignAlertRule> rules,
                                               const std::map<std::string, std::string>& labels);

// Returns `gpu-01` for `gpu-01:9400`.
[[nodiscard]] std::string_view without_port(std::string_view address);

// Reads the section `foreign_alerts`; docs/configuration.md has its keys. Faults are reported to
// the file.
[[nodiscard]] std::vector<ForeignAlertRule> read_foreign_alerts(const YamlMap& root);

}  // namespace gpuward::remediator
