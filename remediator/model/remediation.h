// The record of one unhealthy node: the Remediation resource as plain values. One is open per node
// UID. The spec holds evidence (written by the sources), the status what was decided and done
// (written by execution/). JSON is in records/remediation_json.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/kube/node_findings.h"
#include "core/model/severity.h"
#include "remediator/model/milestone.h"
#include "remediator/model/notice.h"
#include "remediator/model/step.h"

namespace gpuward::remediator {

enum class ConditionType : std::uint8_t {
  kProgressing,  // the remediator works on it and waits for no operator
  kHeld,         // nothing more happens until an operator acts
  kClosed
};

inline constexpr std::array kAllConditions = {ConditionType::kProgressing, ConditionType::kHeld,
                                              ConditionType::kClosed};

struct Condition {
  bool holds = false;
  std::chrono::system_clock::time_point since;

  friend bool operator==(const Condition&, const Condition&) = default;
};

[[nodiscard]] constexpr std::string_view to_string(ConditionType type) {
  constexpr std::array<std::string_view, kAllConditions.size()> kTypes = {"Progressing", "Held",
                                                                          "Closed"};
  return kTypes[static_cast<std::size_t>(type)];
}

using WallTime = std::chrono::system_clock::time_point;

// How much the wall clocks of two leaders may differ (docs/safety.md).
inline constexpr std::chrono::seconds kMostClockDifference{120};

enum class Phase : std::uint8_t {
  kPending,      // recorded, not yet decided
  kObserved,     // decided: gpuward only records
  kQuarantined,  // the node has the taint, or taint and cordon
  kWaiting,      // the next step waits for an approval, fresh evidence, a budget or a delay
  kCollecting,   // a Job on the node collects evidence that the next steps would destroy
  kDraining,
  kResetting,
  kRebooting,
  kTesting,      // a Job on the node runs the long diagnostics
  kTerminating,  // its machine is about to be terminated, or is terminating
  kVerifying,
  kHeld,        // only an operator can continue; taint and cordon stay
  kPaused,      // an operator undid a change of gpuward or requested a pause
  kReleased,    // closed: gpuward's taint and cordon are removed
  kEnded,       // closed: the alerts ended before any step
  kReplaced,    // closed: its machine was terminated and the node removed; if the policy waits for
                // a replacement, that has joined
  kSuperseded,  // closed: the node is gone or is now another one
  kCancelled,   // closed: an operator cancelled it; gpuward's taint and cordon are removed
};

// Keeps a deleted Remediation until gpuward's taint and cordon are off its node.
inline constexpr std::string_view kFinalizer = "gpuward.dev/remediation";

[[nodiscard]] std::string_view to_string(Phase phase);  // "Pending", ...
[[nodiscard]] std::optional<Phase> parse_phase(std::string_view text);
[[nodiscard]] bool is_open(Phase phase);
// Whether only an operator can continue. gpuward must notify an operator, also after a crash.
[[nodiscard]] bool needs_operator(Phase phase);

// The alert for a node that has gpuward's taint, annotation or cordon without a record. The
// remediator raises it itself (intake/orphaned_taints), never an Alertmanager.
inline constexpr std::string_view kOrphanedAlert = "GpuwardMarksWithoutRecord";
// Prefix of its fingerprint, which no sender of the webhook can choose.
inline constexpr std::string_view kOrphanedOrigin = "marks.";
struct RemediationStatus;
// Whether the policy would act on the node but a budget or a storm leaves it in service. gpuward
// must notify an operator of that too.
[[nodiscard]] bool is_left_in_service(const RemediationStatus& status);
// The rule of a node that will not be drained before the event that its cloud has announced.
// gpuward must notify an operator of that too.
inline constexpr std::string_view kLateRule = "maintenance.late";
// The rule of a Remediation that leaves its node to another Remediation.
inline constexpr std::string_view kOnePerNodeRule = "guard.one-per-node";

// One alert about the node. The fingerprint identifies it; a mere repeat changes nothing here.
struct AlertEvidence {
  std::string alertname;
  std::string fingerprint;
  Severity severity = Severity::kNone;
  WallTime starts_at;
  WallTime first_received;
  std::optional<WallTime> ended_at;  // absent while it fires
  bool foreign = false;              // not from gpuward's rules: alone justifies no disruptive step
  std::string error_class = {};      // model/error_class
  // The alert was reported as firing after an end of this same episode: that end was false, and the
  // next one may be too.
  bool contested = false;
  std::string advice = {};  // from a language model: its reason, its confidence, the question
  bool drill = false;       // from an injected fault: not evidence beside a real fault

  [[nodiscard]] bool firing() const { return !ended_at.has_value(); }
  friend bool operator==(const AlertEvidence&, const AlertEvidence&) = default;
};

// Firing alerts that were dropped because there was no room.
struct DroppedAlerts {
  Severity severity = Severity::kNone;  // of the worst
  WallTime at;                          // when the last was dropped

  friend bool operator==(const DroppedAlerts&, const DroppedAlerts&) = default;
};

// How long dropped alerts may still be firing: longer than an Alertmanager waits between repeats.
inline constexpr std::chrono::hours kDroppedLast{24};

// A report has shown that the cause of the severity is over.
struct Cleared {
  Severity severity = Severity::kNone;  // the severity that is left
  WallTime at;                          // when the report was measured

  friend bool operator==(const Cleared&, const Cleared&) = default;
};

// Values that a step needs again later: "bootIDBefore", "healthySince", ...
using Facts = std::map<std::string, std::string>;
// Fact of a failed step for which a worse severity would not help: the failure says nothing about
// the node, or the policy wants an operator to look.
inline const std::string kNeedsOperatorFact = "needsHuman";

struct StepRecord {
  Step step = Step::kTaint;
  StepResult result = StepResult::kIntended;
  // Severity of the Remediation when the step was intended: at a worse one the step runs again.
  Severity severity = Severity::kNone;
  std::optional<WallTime> intent_at, finished_at;
  int attempts = 0;
  std::string message;
  // How long it has run: only time in which a leader was there and the step could act
  // (execution/step_clock). While it runs, the value is at most a minute behind.
  int active_seconds = 0;
  Facts facts = {};
  std::string pool = {};  // the pool whose plan it was started under
  bool drill = false;     // started in a drill: it does not count for a real fault

  friend bool operator==(const StepRecord&, const StepRecord&) = default;
};

// A step that an operator has to approve. The token is derived from Remediation, step, node,
// instance, evidence and the time of the request: an approval of anything different does not count.
struct ApprovalRecord {
  Step step = Step::kReboot;
  std::string token;
  WallTime requested_at;
  std::string by;                   // the approver, as verified by admission
  std::optional<WallTime> seen_at;  // when the remediator first saw the approval

  friend bool operator==(const ApprovalRecord&, const ApprovalRecord&) = default;
};

// Requests of operators, from annotations on the Remediation.
struct OperatorRequest {
  bool cancel = false, pause = false;
  bool machine_replaced = false;  // the recorded history does not apply to the present machine
  std::string approved_token, approved_by;
  std::string last_command = {};  // who requested which command with gpuwardctl: only for people

  friend bool operator==(const OperatorRequest&, const OperatorRequest&) = default;
};

struct RemediationStatus {
  Phase phase = Phase::kPending;
  Mode mode = Mode::kObserve;        // at the last decision
  std::string rule;                  // which rule of the policy decided
  std::string message;               // why it is in this state, for people
  std::vector<std::string> reasons;  // the whole chain, evidence first
  std::vector<StepRecord> steps;
  std::optional<bool> pre_existing_cordon;  // the node was already cordoned, not by gpuward
  // The worst severity that the kernel itself has reported about the node in the boot of this
  // Remediation; absent if unknown. User space can write into the kernel log too: steps that rest
  // on such lines alone must not go beyond a cordon.
  std::optional<Severity> confirmed_severity;
  // Class of the exporter's worst finding about the node in that boot (model/error_class); alerts
  // about nodes name none.
  std::string error_class;
  // The GPUs that needed a reset or worse before a disruptive step for them: the machine's attempts
  // are also recorded by them (ledger.h).
  std::vector<std::string> gpus;
  // The exporter's findings on the node while this was open, the worst first: for people, who may
  // no longer have a node to look at. No decision uses them.
  std::vector<NodeFinding> findings;
  std::optional<Cleared> cleared;
  // Worse than the evidence, because the steps for the evidence's severity did not help.
  std::optional<Severity> escalated_to;
  // The phase of which an operator was reliably notified; absent if the phase does not need that.
  std::optional<Phase> notified_phase;
  // Severity of the evidence at the last notice `opened`: worse evidence, or real evidence after a
  // drill, sends another one. Absent if there was no sink, and in records of versions without this
  // field.
  std::optional<Severity> notified_severity;
  bool is_notified_of_drill = false;
  // gpuward only observed the node before the present phase, in which it does nothing either: when
  // it starts to act, sinks get `opened` again.
  bool is_unacted = false;
  std::optional<ApprovalRecord> approval;  // for the step that waits for approval
  std::vector<std::string> history;        // earlier attempts and their outcomes, oldest first
  std::optional<WallTime> closed_at;
  std::map<Milestone, WallTime> reached;  // when it first passed each milestone
  std::map<ConditionType, Condition> conditions;
  std::vector<Notice> notices;  // not yet delivered to all their sinks, oldest first

  [[nodiscard]] const StepRecord* find(Step step) const;
  [[nodiscard]] bool has_done(Step step) const;
  friend bool operator==(const RemediationStatus&, const RemediationStatus&) = default;
};

struct Remediation {
  std::string name, uid, resource_version;
  std::optional<WallTime> created;
  bool deleting = false;  // deleted in the API server: it disappears once its finalizers are gone
  std::vector<std::string> finalizers;
  std::string node, node_uid;
  std::string boot_id, instance_id;     // of the node when the Remediation was opened
  std::string system_uuid = {};         // the same
  Severity severity = Severity::kNone;  // the worst so far
  std::vector<AlertEvidence> alerts;
  std::optional<DroppedAlerts> dropped;
  OperatorRequest wish;
  RemediationStatus status;

  [[nodiscard]] bool open() const { return is_open(status.phase); }
  // Whether there is work for gpuward: it is open, has notices to deliver, or waits for gpuward to
  // release it.
  [[nodiscard]] bool wants_us() const;
  // All alerts of the node come from injected faults (guards/drills).
  [[nodiscard]] bool is_drill() const;
  // A drill's alert beside a real one: it counts for nothing.
  [[nodiscard]] bool is_drill_beside(const AlertEvidence& alert) const {
    return alert.drill && !is_drill();
  }
  // A step that was started in a drill has done nothing for a real fault.
  [[nodiscard]] bool counts(const StepRecord& record) const { return !record.drill || is_drill(); }
  [[nodiscard]] bool must_be_let_go() const;
  // The worst evidence that is not cleared.
  [[nodiscard]] Severity evidence_severity() const;
  // The worse of that severity and the one it was escalated to.
  [[nodiscard]] Severity acted_severity() const {
    return std::max(evidence_severity(), status.escalated_to.value_or(Severity::kNone));
  }
  // Whether the alert counts for or against the steps. If there is a fault, an announcement of the
  // cloud does not count, nor does a drill beside a real alert.
  [[nodiscard]] bool counts(const AlertEvidence& alert) const;
  // Whether any alert that counts is firing.
  [[nodiscard]] bool any_firing() const;
  // The worst of the firing alerts.
  [[nodiscard]] Severity firing_severity() const;
  // Whether an alert of at least that severity has ended, and had been reported as firing after an
  // earlier end of the same episode. An announcement of the cloud is over when the Node no longer
  // has it; no report repeats it.
  [[nodiscard]] bool is_end_contested(Severity least) const;
  // Whether alerts that were dropped may still fire.
  [[nodiscard]] bool may_have_dropped(WallTime now) const {
    return dropped && now - dropped->at < kDroppedLast;
  }
  [[nodiscard]] const AlertEvidence* orphaned_taints() const;  // kOrphanedAlert that fires, or null
  // When the last alert ended; nullopt while any fires, and if there is none.
  [[nodiscard]] std::optional<WallTime> ended_at() const;
};

// Whether gpuward has requested status.approval and no operator has answered.
[[nodiscard]] bool awaits_approval(const Remediation& remediation);

// Adds the exporter's findings on `node`. No finding is forgotten, and the first text of each
// stays, so that a repeat changes nothing. Keeps the worst kMostNodeFindings.
void remember_findings(const kube::Node& node, RemediationStatus& status);

// Returns the class of the worst error among those that the exporter reported and the firing
// alerts, or, if none fires, the ended ones. Empty if there is none.
[[nodiscard]] std::string error_class_of(const Remediation& remediation);

}  // namespace gpuward::remediator
