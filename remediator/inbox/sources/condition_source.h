// Turns conditions that other programs set on nodes (node-problem-detector's GPUProblem) into
// findings, by the rules of the policy. A finding ends when its condition has had another status
// for a while. Unknown or a missing condition does not end it. Some detectors reset
// lastTransitionTime while the status stays, each time that the reason changes. So the source
// remembers since when it has seen the status.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/model/finding.h"
#include "core/runtime/clock.h"
#include "remediator/cluster/known_evidence.h"
#include "remediator/cluster/node_conditions.h"
#include "remediator/inbox/sources/source.h"
#include "remediator/policy/current_policy.h"

namespace gpuward::remediator {

class ConditionSource final : public Source {
 public:
  // The arguments must outlive the source.
  ConditionSource(const CurrentPolicy& policy, const NodeConditions& nodes,
                  const KnownEvidence& known, Clock& clock)
      : policy_(policy), nodes_(nodes), known_(known), clock_(clock) {}
  [[nodiscard]] std::string_view name() const override { return "condition"; }
  // Reads often, because it makes no request.
  [[nodiscard]] std::chrono::milliseconds every() const override { return std::chrono::seconds(2); }
  [[nodiscard]] Result<SourceFindings> look() override;

 private:
  struct Remembered {
    ConditionSeen seen;    // `since` is the earliest time at which the same status was seen.
    WallTime counts_from;  // Start of the rule's `for`; not before a named reason was seen.
  };
  // Returns the conditions with their remembered times. The memory restarts if the informers were
  // silent or another replica has led for a while, because a condition may have changed twice
  // meanwhile.
  [[nodiscard]] std::vector<Remembered> remembered(std::vector<ConditionSeen> conditions);

  const CurrentPolicy& policy_;
  const NodeConditions& nodes_;
  const KnownEvidence& known_;
  Clock& clock_;
  std::optional<Clock::Steady> looked_;
  // State of the last check, by the Node's UID and the rule's fingerprint.
  std::map<std::pair<std::string, std::string>, Remembered> remembered_;
};

}  // namespace gpuward::remediator
