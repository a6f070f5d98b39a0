// The decision about one Remediation: pure, so that tests and the simulator can run it without a
// cluster. What it says is carried out by execution/.
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
  kQuarantine,  // taint, or taint and cordon, are to be on the node
  kHold,        // what stands stays, nothing more is done
  kPause,       // an operator has undone or edited something: nothing more is done
  kAskReport,   // a health report is needed to decide; decide again with it
  kAskAlerts,   // whether the alerts still fire unsilenced is needed to decide
  kAskProofs,   // what proves that a silent machine is down is needed to decide
  kAskGuard,    // whether approvals are guarded is needed to decide
  kAskWornOut,  // whether the machine has had the step lately is needed to decide
  kAskSlot,     // a slot of the budgets is needed to decide; decide again with the answer
  kBegin,       // the step is to be intended and begun
  kWatch,       // the step has been begun: see how it goes
  kEscalate,    // the steps did not help: the next severity's are taken
  kLower,       // what raised the severity is over: what is left is acted on
  kRelease,     // what is ours is to come off the node
  kClose,       // nothing of ours is on the node and nothing is to be done
};

[[nodiscard]] std::string_view to_string(Verdict verdict);
// Of those verdicts that change the node in one write; empty for the others.
[[nodiscard]] std::string_view action_of(Verdict verdict);

struct DecisionInputs {
  const Remediation& remediation;
  const kube::Node* node = nullptr;           // null: no node of that name
  std::optional<ExclusionHit> excluded = {};  // by an operator, for a while
  std::string goes_first = {};                // open for the same node, and acts; empty: none
  std::string left_cordon = {};          // closed, and its cordon is on the node still; empty: none
  bool has_untainted_elsewhere = false;  // other nodes that failed a moment ago, not yet tainted
  std::optional<Result<HealthReport>> report;  // asked for after kAskReport
  bool can_ask_alerts = false;                 // there is an Alertmanager to ask
  // The node's, by fingerprint; asked for after kAskAlerts.
  std::optional<Result<std::map<std::string, Severity>>> alerts;
  bool can_ask_proofs = false;                       // something may prove that a machine is down
  std::optional<Result<MachineProofs>> proofs = {};  // asked for after kAskProofs
  bool can_ask_guard = false;                        // false: approvals are believed as they are
  std::optional<Status> guard = {};                  // of approvals; asked for after kAskGuard
  std::optional<Result<std::optional<SlotRefusal>>> worn_out = {};  // asked for after kAskWornOut
  std::optional<Result<std::optional<SlotRefusal>>> slot;           // asked for after kAskSlot
};

struct Decision {
  Verdict verdict = Verdict::kHold;
  Phase phase = Phase::kPending;  // once it is carried out
  std::string rule;               // the line of the policy, or the guard, that decided
  std::string message;
  std::vector<std::string> reasons;
  bool is_drill = false;            // nothing that it rests on is real
  std::vector<Step> steps;          // of kQuarantine: the whole goal, done ones included
  std::optional<PlannedStep> step;  // of kAskWornOut, kAskSlot, kBegin and kWatch
  std::optional<Severity> escalate_to;
  std::optional<Cleared> cleared;  // of kLower
  bool cordon_is_gone = false;  // an operator has taken ours off: one that comes later is not ours
  std::optional<ApprovalRecord> approval;  // to be kept: a request, or the approval to it
  bool withdraws_approval =
      false;  // what was asked for counts no more, nor does the approval to it
  std::optional<std::chrono::milliseconds> look_again;
};

// `policy` is the one for this node (policy_for).
[[nodiscard]] Decision decide(const Policy& policy, const DecisionInputs& inputs, WallTime now);

}  // namespace gpuward::remediator
