// A decision in progress, and the parts of decide() that work on it: alerts_ended.cpp (after the
// alerts ended), step_decisions.cpp (the steps after taint and cordon), give_back.cpp (before a
// node returns), replacement.cpp (a node that is gone). Used inside decide/ alone.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "remediator/decide/decide.h"
#include "remediator/decide/step_gates.h"

namespace gpuward::remediator {

// Passes the questions of one decision to its Answers. A second question for the report or the
// proofs gets the first answer.
class Asked {
 public:
  explicit Asked(Answers& answers) : answers_(answers) {}

  [[nodiscard]] Answers& now() { return answers_; }
  [[nodiscard]] const Result<HealthReport>& report() {
    if (!report_) report_ = answers_.report();
    return *report_;
  }
  [[nodiscard]] const Result<MachineProofs>& proofs() {
    if (!proofs_) proofs_ = answers_.proofs();
    return *proofs_;
  }
  // Returns the proofs if a guard has read them without an error; else nullptr.
  [[nodiscard]] const MachineProofs* known_proofs() const {
    return proofs_ && *proofs_ ? &**proofs_ : nullptr;
  }

 private:
  Answers& answers_;
  std::optional<Result<HealthReport>> report_;
  std::optional<Result<MachineProofs>> proofs_;
};

struct Draft {
  const Policy& policy;
  const DecisionInputs& inputs;
  const Remediation& remediation;
  Asked& asked;
  WallTime now;
  Decision decision = {};
};

// How often a node that may return is checked.
inline constexpr std::chrono::seconds kReportInterval{15};
// How often an exclusion is checked: an operator may end it early.
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
// Decides taint and cordon first, then the further steps one by one.
Decision decide_standing(Draft& draft);

// alerts_ended.cpp
Decision decide_without_alerts(Draft& draft);
Decision decide_ended(Draft& draft);
// Lowers the severity if the alerts that raised it have ended and a fresh report confirms that. The
// result is the severity of the remaining alerts. If no alert remains, other rules return the node.
std::optional<Decision> lower_severity(Draft& draft);
// Returns whether the alerts may fire again at once, as they did after their last end. False for a
// node that has failed a diagnostic: it stays held, and does not alternate between held and
// waiting.
[[nodiscard]] bool may_be_no_end(const Draft& draft);
// Returns the failed diagnostic that keeps the node out of service because no restart or reset has
// followed; nullptr if there is none. On a held node only gpuward's own restarts and resets count,
// because its operator may be at work.
[[nodiscard]] const StepRecord* diagnostic_in_the_way(const Draft& draft);
[[nodiscard]] bool is_confirmed(const Draft& draft, Severity severity);

// give_back.cpp
// Returns the reason why the node may not return to service now; nullopt if it may. It relies on
// the Node and on a report that were read for this decision, right before the Node is patched,
// because a verification may be old. Every return uses it: return-to-service, the end of the
// alerts, the policy's recovery, and machines that have come back.
[[nodiscard]] std::optional<Gate> gate_before_return(const Draft& draft);

// step_decisions.cpp
Decision take_step(Draft& draft, const PlannedStep& step);
Decision watch_step(Draft& draft, PlannedStep step);
Decision after_failure(Draft& draft, const PlannedStep& step, const StepRecord& record);
Decision hold_for_operator(Draft& draft, const std::string& why);
[[nodiscard]] std::string of_pool(const Draft& draft);
[[nodiscard]] std::string step_names(const std::vector<PlannedStep>& plan);

// replacement.cpp
// The node leaves with its machine: gpuward then only watches until both are gone.
[[nodiscard]] std::optional<PlannedStep> machine_is_ending(const Draft& draft);
Decision decide_without_node(Draft& draft, const char* gone);
Decision decide_after_the_end(Draft& draft);

}  // namespace gpuward::remediator
