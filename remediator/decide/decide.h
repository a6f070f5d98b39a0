// Makes the decision about one Remediation. The record and the Node are arguments, and all other
// inputs come through Answers, which the controller, its memory and the replay implement.
// act/ carries the decision out.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/kube/objects.h"
#include "remediator/cluster/exclusions.h"
#include "remediator/decide/budgets/slots.h"
#include "remediator/model/health_report.h"
#include "remediator/model/machine_proofs.h"
#include "remediator/model/remediation.h"
#include "remediator/policy/policy.h"

namespace gpuward::remediator {

// The rule of a pause by annotation. The pause ends with the annotation.
inline constexpr std::string_view kPauseRule = "guard.pause";

// The rule of a node with a taint, cordon or annotation that the record does not explain.
inline constexpr std::string_view kOwnershipRule = "guard.ownership";

enum class Verdict : std::uint8_t {
  kRecord,      // Change only the status, not the node.
  kQuarantine,  // Put the taint, or taint and cordon, on the node.
  kHold,        // Keep taint and cordon, and do nothing more.
  kPause,       // An operator has undone or edited a change: do nothing more.
  kBegin,       // Intend and begin the step.
  kWatch,       // The step has begun: watch it.
  kEscalate,    // The steps did not help: take the steps of the next severity.
  kLower,       // The cause of the higher severity is over: act on the remaining alerts.
  kRelease,     // Remove gpuward's changes from the node.
  kClose,       // gpuward has no change on the node and nothing to do.
};

[[nodiscard]] std::string_view to_string(Verdict verdict);
// Returns the name of a verdict that changes the node in one write; empty for other verdicts.
[[nodiscard]] std::string_view action_of(Verdict verdict);

struct DecisionInputs {
  const Remediation& remediation;
  const kube::Node* node = nullptr;           // Null if no node has that name.
  std::optional<ExclusionHit> excluded = {};  // The operator's temporary exclusion of the node.
  // Name of another open Remediation that acts on the same node; empty: none.
  std::string goes_first = {};
  // Name of a closed Remediation with a cordon still on the node; empty: none.
  std::string left_cordon = {};
  bool has_untainted_elsewhere = false;  // Other nodes just failed and are not tainted yet.
};

// Answers the questions of one decision. Each answer may need a request to another service, so
// decide() calls a method only when a guard needs it. It calls slot() last, and each other method
// at most once.
class Answers {
 public:
  using Alerts = std::map<std::string, Severity>;  // Severity by fingerprint.
  using Slot = Result<std::optional<SlotRefusal>>;

  virtual ~Answers() = default;
  // Returns the newest report of the node's exporter.
  [[nodiscard]] virtual Result<HealthReport> report() = 0;
  // Returns the node's alerts that fire and are not silenced; nullopt if no Alertmanager is
  // configured.
  [[nodiscard]] virtual std::optional<Result<Alerts>> alerts() = 0;
  // Returns the proofs that the machine of a silent node is down.
  [[nodiscard]] virtual Result<MachineProofs> proofs() = 0;
  // Returns an error unless the API server guards approvals.
  [[nodiscard]] virtual Status approval_guard() = 0;
  // Returns the refusal of slot() that lasts. Takes no slot.
  [[nodiscard]] virtual Slot worn_out(Step step) = 0;
  // Takes a slot of the budgets for the step, or keeps the slot that the Remediation has.
  [[nodiscard]] virtual Slot slot(Step step) = 0;
};

struct Decision {
  Verdict verdict = Verdict::kHold;
  Phase phase = Phase::kPending;  // Phase after the decision is carried out.
  std::string rule;               // The line of the policy, or the guard, that decided.
  std::string message;
  std::vector<std::string> reasons;
  bool is_drill = false;  // No real fault is the reason.
  // For kQuarantine: all wanted steps, including steps that are done.
  std::vector<Step> steps;
  std::optional<PlannedStep> step;  // For kBegin, kWatch, and a step that waits.
  std::optional<Severity> escalate_to;
  std::optional<Cleared> cleared;  // For kLower.
  // An operator removed gpuward's cordon, so a later cordon is not gpuward's.
  bool cordon_is_gone = false;
  // The request for an approval, or the approval, to record.
  std::optional<ApprovalRecord> approval;
  bool withdraws_approval = false;  // Deletes the request and its approval.
  std::optional<std::chrono::milliseconds> look_again;
};

// Makes the decision. `policy` is the policy for this node (policy_for).
[[nodiscard]] Decision decide(const Policy& policy, const DecisionInputs& inputs, Answers& answers,
                              WallTime now);

}  // namespace gpuward::remediator
