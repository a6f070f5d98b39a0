// The YAML of the ways back: by severity, what follows where a node would be held for a human. Used
// by policy/policy_file and policy/pools_file; taken by workflow/way_back.
#pragma once

#include <map>
#include <vector>

#include "core/model/severity.h"
#include "core/runtime/yaml.h"
#include "remediator/policy/policy.h"
#include "remediator/policy/step_plan.h"

namespace gpuward::remediator {

// Of the severities that `section` names. Faults are reported to its file.
[[nodiscard]] std::map<Severity, std::vector<PlannedStep>> read_way_back(const YamlMap& section);

// Reports a way back that no node could ever go: its steps drain no node, end the machine, or are
// the same diagnostics.
void refuse_dead_ways_back(const YamlMap& root, const Policy& policy);

}  // namespace gpuward::remediator
