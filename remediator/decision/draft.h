// A decision while it is made, and the parts of decide() that work on it: alerts_ended.cpp (after
// the alerts ended), step_decisions.cpp (the steps after taint and cordon), give_back.cpp (before a
// node returns), replacement.cpp (a node that is gone). Used inside decision/ alone.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "remediator/decision/decide.h"
#include "remediator/decision/step_gates.h"

namespace gpuward::remediator {

struct Draft {
  const Policy& policy;
  const DecisionInputs& inputs;
  const Remediation& remediation;
  WallTime now;
  Decision decision = {};
};

// How often a node that may return is checked.
inline constexpr std::chrono::seconds kReportInterval{15};
// How often an exclusion is checked: an operator may take it back.
inline constexpr std::chrono::seconds kLongestExclusionInterval{60};

// decide.cpp: the guards in order, then taint and cordon.
Decision conclude(Draft& draft, Verdict verdict, Phase phase, std::string rule,
                  std::string message);
Decision close_case(Draft& draft, Phase phase, std::string rule, std::string message);
Decision ended_without_trace(Draft& draft);
Decision hold_exhausted(Draft& draft, const std::string& why);
[[nodiscard]] const char* node_is_another(const Draft& draft);
[[nodiscard]] bool ours_on_node(const Draft& draft);
[[nodiscard]] Phase standing_phase(const Draft& draft);
// Taint and cordon first, then step by step.
Decision decide_standing(Draft& draft);

// alerts_ended.cpp
Decision decide_without_alerts(Draft& draft);
Decision decide_ended(Draft& draft);
// Where what raised the severity has ended and a fresh report says that it is over, what is left
// is acted on. A node of which nothing is left is returned, by other rules.
std::optional<Decision> lower_severity(Draft& draft);
// Whether the alerts may fire again at once, as after their end before. Not asked of a node that
// has failed a diagnostic: that one stays held, and does not alternate between held and waiting.
[[nodiscard]] bool may_be_no_end(const Draft& draft);
// The failed diagnostic that keeps the node: neither a restart nor a reset has come after it. Of a
// node that is held, whose operator may be at work on it, only gpuward's own count. Null: none.
[[nodiscard]] const StepRecord* diagnostic_in_the_way(const Draft& draft);
[[nodiscard]] bool is_confirmed(const Draft& draft, Severity severity);

// give_back.cpp
// What keeps the node from going back into service now; nullopt: nothing. It rests on the Node and
// on a report that were read for this decision, right before the Node is patched: a verification
// may be of yesterday. Every way back asks it: return-to-service, the end of the alerts, the
// policy's recovery, and machines that have come back.
[[nodiscard]] std::optional<Gate> gate_before_return(const Draft& draft);

// step_decisions.cpp
Decision take_step(Draft& draft, const PlannedStep& step);
Decision watch_step(Draft& draft, PlannedStep step);
Decision after_failure(Draft& draft, const PlannedStep& step, const StepRecord& record);
Decision hold_for_operator(Draft& draft, const std::string& why);
[[nodiscard]] std::string of_pool(const Draft& draft);
[[nodiscard]] std::string step_names(const std::vector<PlannedStep>& plan);

// replacement.cpp
// The node goes with its machine: then there is nothing but to see that both are gone.
[[nodiscard]] std::optional<PlannedStep> machine_is_ending(const Draft& draft);
Decision decide_without_node(Draft& draft, const char* gone);
Decision decide_after_the_end(Draft& draft);

}  // namespace gpuward::remediator
