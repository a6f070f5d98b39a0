// What checks 4 and 6 say about a node in quarantine, and what to do with it. Pure; used by
// Quarantine, read from the node by operators, by the remediator and by the node's agent.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/model/check_result.h"
#include "exporter/publish/node/node_wish.h"

namespace gpuward::exporter {

struct QuarantineVerdict {
  NodeStatus status = NodeStatus::kWarn;
  Severity severity = Severity::kMonitor;
  // "return-to-service" only for a node that the diagnostic has passed, "replace" only for one that
  // must be isolated, "investigate" for all else.
  std::string recommendation;
  std::string next;  // for people: the next step by the flow of severities
};

// `results`: of check 4, and of check 6 where it was run. A node whose check 4 did not run has not
// passed.
[[nodiscard]] QuarantineVerdict judge_quarantine(const std::vector<CheckResult>& results);

// The annotation quarantine-result.
[[nodiscard]] std::string quarantine_result(const QuarantineVerdict& verdict,
                                            const std::vector<CheckResult>& results,
                                            std::string_view node, WallTime now);

}  // namespace gpuward::exporter
