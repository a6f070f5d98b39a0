// The decision about one Remediation. It reads nothing itself: the record and the Node come in as
// values, and everything else through Answers, which the controller, its memory and the replay
// implement. execution/ carries the decision out.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/kube/objects.h"
#include "remediator/budgets/slots.h"
#include "remediator/guards/exclusions.h"
#include "remediator/guards/machine_proofs.h"
#include "remediator/model/health_report.h"
#include "remediator/model/remediation.h"
#include "remediator/policy/policy.h"

namespace gpuward::remediator {

// The rule of a pause by annotation, which ends with the annotation.
inline constexpr std::string_view kPauseRule = "guard.pause";

// The rule of a node whose taint, cordon or annotation the record does not explain.
inline constexpr std::string_view kOwnershipRule = "guard.ownership";

enum class Verdict : std::uint8_t {
  kRecord,      // nothing on the node, only the status
  kQuarantine,  // put the taint, or taint and cordon, on the node
  kHold,        // taint and cordon stay, nothing more is done
  kPause,       // an operator has undone or edited something: nothing more is done
  kBegin,       // intend and begin the step
  kWatch,       // the step has begun: watch it
  kEscalate,    // the steps did not help: take the next severity's
  kLower,       // the cause of the higher severity is over: act on the rest
  kRelease,     // remove gpuward's changes from the node
  kClose,       // gpuward has nothing on the node and nothing to do
};

[[nodiscard]] std::string_view to_string(Verdict verdict);
// The name of a verdict that changes the node in one write; empty for the others.
[[nodiscard]] std::string_view action_of(Verdict verdict);

struct DecisionInputs {
  const Remediation& remediation;
  const kube::Node* node = nullptr;           // null: no node of that name
  std::optional<ExclusionHit> excluded = {};  // by an operator, for a while
  std::string goes_first = {};                // open for the same node, and acts; empty: none
  std::string left_cordon = {};          // closed, but its cordon is still on the node; empty: none
  bool has_untainted_elsewhere = false;  // other nodes that just failed, not yet tainted
};

// Answers the questions of one decision, each of which may be a request to another service.
// decide() calls a method only when a guard needs its answer: the budgets' slot last, the others at
// most once.
class Answers {
 public:
  using Alerts = std::map<std::string, Severity>;  // by fingerprint
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
  // Returns the refusal of slot() that will last. Takes no slot.
  [[nodiscard]] virtual Slot worn_out(Step step) = 0;
  // Takes a slot of the budgets for the step, or keeps the slot that the Remediation has.
  [[nodiscard]] virtual Slot slot(Step step) = 0;
};

struct Decision {
  Verdict verdict = Verdict::kHold;
  Phase phase = Phase::kPending;  // once it is carried out
  std::string rule;               // the line of the policy, or the guard, that decided
  std::string message;
  std::vector<std::string> reasons;
  bool is_drill = false;            // no real fault is behind it
  std::vector<Step> steps;          // for kQuarantine: the whole goal, done ones included
  std::optional<PlannedStep> step;  // for kBegin, kWatch, and a step that waits
  std::optional<Severity> escalate_to;
  std::optional<Cleared> cleared;  // for kLower
  bool cordon_is_gone = false;     // an operator removed gpuward's: a later one is not gpuward's
  std::optional<ApprovalRecord> approval;  // to record: a request, or its approval
  bool withdraws_approval = false;         // drops the request and its approval
  std::optional<std::chrono::milliseconds> look_again;
};

// `policy` is the one for this node (policy_for).
[[nodiscard]] Decision decide(const Policy& policy, const DecisionInputs& inputs, Answers& answers,
                              WallTime now);

}  // namespace gpuward::remediator
