// What the policy says otherwise for the nodes of some labels. Immutable values; read from YAML by
// read_pools(), chosen for a node by policy_for().
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/model/severity.h"
#include "remediator/model/step.h"
#include "remediator/policy/step_plan.h"

namespace gpuward::remediator {

struct PoolPolicy {
  std::string name;
  std::vector<std::string> labels;  // "key" or "key=value"; a node of the pool has all of them
  std::optional<Mode> mode;         // where the policy's is higher
  std::map<Severity, std::vector<PlannedStep>> steps;          // of the severities that differ
  std::map<Severity, std::vector<PlannedStep>> way_back = {};  // likewise
};

}  // namespace gpuward::remediator
