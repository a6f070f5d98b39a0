// The record of one unhealthy node: the Remediation resource as plain values. A node UID has at
// most one open Remediation. The sources write the evidence into the spec; act/ writes
// decisions and results into the status. cluster/remediation_json converts it to JSON.
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
  kProgressing,  // The remediator works on it and waits for no operator.
  kHeld,         // The remediator does nothing more until an operator acts.
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

// Largest difference between the wall clocks of two leaders (docs/safety.md).
inline constexpr std::chrono::seconds kMostClockDifference{120};

enum class Phase : std::uint8_t {
  kPending,      // Recorded, not yet decided.
  kObserved,     // Decided; gpuward only records.
  kQuarantined,  // The node has the taint, or taint and cordon.
  kWaiting,      // The next step waits for an approval, fresh evidence, a budget or a delay.
  kCollecting,   // A Job on the node collects evidence that the next steps would destroy.
  kDraining,
  kResetting,
  kRebooting,
  kTesting,      // A Job on the node runs the long diagnostics.
  kTerminating,  // The machine of the node is terminating, or its termination is intended.
  kVerifying,
  kHeld,      // Only an operator can continue; taint and cordon stay.
  kPaused,    // An operator undid a change of gpuward or requested a pause.
  kReleased,  // Closed: gpuward removed its taint and cordon.
  kEnded,     // Closed: the alerts ended before any step.
  // Closed: the machine was terminated and its Node removed. If the policy waits for a replacement,
  // the replacement has joined.
  kReplaced,
  kSuperseded,  // Closed: the node is gone or another node has its name.
  kCancelled,   // Closed: an operator cancelled it, and gpuward removed its taint and cordon.
};

// Keeps a deleted Remediation until gpuward has removed its taint and cordon from the node.
inline constexpr std::string_view kFinalizer = "gpuward.dev/remediation";

[[nodiscard]] std::string_view to_string(Phase phase);  // Returns "Pending", ...
[[nodiscard]] std::optional<Phase> parse_phase(std::string_view text);
[[nodiscard]] bool is_open(Phase phase);
// Returns whether only an operator can continue. gpuward must notify an operator, also after a
// crash.
[[nodiscard]] bool needs_operator(Phase phase);

// The alert for a node that has gpuward's taint, annotation or cordon without a record. The
// remediator raises it itself (inbox/orphaned_taints); no Alertmanager does.
inline constexpr std::string_view kOrphanedAlert = "GpuwardMarksWithoutRecord";
// Prefix of the fingerprint of kOrphanedAlert. No sender of the webhook can choose this prefix.
inline constexpr std::string_view kOrphanedOrigin = "marks.";
struct RemediationStatus;
// Returns whether the policy requires an action, but a budget or a storm leaves the node in
// service. gpuward must notify an operator in this case too.
[[nodiscard]] bool is_left_in_service(const RemediationStatus& status);
// The rule of a node that will not be drained before the event that its cloud has announced.
// gpuward must notify an operator in this case too.
inline constexpr std::string_view kLateRule = "maintenance.late";
// The rule of a Remediation that leaves its node to another Remediation.
inline constexpr std::string_view kOnePerNodeRule = "guard.one-per-node";

// One alert about the node, identified by its fingerprint. A plain repeat of the alert changes no
// field.
struct AlertEvidence {
  std::string alertname;
  std::string fingerprint;
  Severity severity = Severity::kNone;
  WallTime starts_at;
  WallTime first_received;
  std::optional<WallTime> ended_at;  // nullopt while the alert fires.
  // The alert is not from gpuward's rules, and alone justifies no disruptive step.
  bool foreign = false;
  std::string error_class = {};  // model/error_class
  // True if a source reported the alert as firing after an end of the same episode. That end was
  // wrong, so the next end may be wrong too.
  bool contested = false;
  std::string advice = {};  // From a language model: its reason, its confidence, the question.
  // The alert comes from an injected fault and does not count beside a real fault.
  bool drill = false;

  [[nodiscard]] bool firing() const { return !ended_at.has_value(); }
  friend bool operator==(const AlertEvidence&, const AlertEvidence&) = default;
};

// Firing alerts that were dropped because there was no room.
struct DroppedAlerts {
  Severity severity = Severity::kNone;  // Severity of the worst dropped alert.
  WallTime at;                          // Time of the last drop.

  friend bool operator==(const DroppedAlerts&, const DroppedAlerts&) = default;
};

// How long dropped alerts may still be firing. The time is longer than an Alertmanager waits
// between repeats.
inline constexpr std::chrono::hours kDroppedLast{24};

// A report has shown that the cause of the severity is over.
struct Cleared {
  Severity severity = Severity::kNone;  // The severity that is left.
  WallTime at;                          // When the report was measured.

  friend bool operator==(const Cleared&, const Cleared&) = default;
};

// Values that a step needs again later: "bootIDBefore", "healthySince", ...
using Facts = std::map<std::string, std::string>;
// Fact of a failed step if the steps of a worse severity would not help. Either the failure says
// nothing about the node, or the policy wants an operator to look.
inline const std::string kNeedsOperatorFact = "needsHuman";

struct StepRecord {
  Step step = Step::kTaint;
  StepResult result = StepResult::kIntended;
  // Severity of the Remediation when the step was intended. At a worse severity the step runs
  // again.
  Severity severity = Severity::kNone;
  std::optional<WallTime> intent_at, finished_at;
  int attempts = 0;
  std::string message;
  // How long the step has run. Only time counts in which a leader watched and the step could act
  // (act/step_clock). While the step runs, the value is at most a minute behind.
  int active_seconds = 0;
  Facts facts = {};
  std::string pool = {};  // Name of the pool with the plan under which the step was started.
  bool drill = false;     // The step was started in a drill and does not count for a real fault.

  friend bool operator==(const StepRecord&, const StepRecord&) = default;
};

// A request for an operator's approval of a step. The token is derived from Remediation, step,
// node, instance, evidence and the time of the request. An approval with another token does not
// count.
struct ApprovalRecord {
  Step step = Step::kReboot;
  std::string token;
  WallTime requested_at;
  std::string by;                   // The approver, as verified by admission.
  std::optional<WallTime> seen_at;  // When the remediator first saw the approval.

  friend bool operator==(const ApprovalRecord&, const ApprovalRecord&) = default;
};

// Requests of operators, from annotations on the Remediation.
struct OperatorRequest {
  bool cancel = false, pause = false;
  bool machine_replaced = false;  // The recorded history does not apply to the present machine.
  std::string approved_token, approved_by;
  std::string last_command = {};  // Who requested which command with gpuwardctl; only for people.

  friend bool operator==(const OperatorRequest&, const OperatorRequest&) = default;
};

struct RemediationStatus {
  Phase phase = Phase::kPending;
  Mode mode = Mode::kObserve;        // Mode at the last decision.
  std::string rule;                  // The rule of the policy that decided.
  std::string message;               // Reason for the current state, for people.
  std::vector<std::string> reasons;  // All reasons of the decision, evidence first.
  std::vector<StepRecord> steps;
  std::optional<bool> pre_existing_cordon;  // The node was already cordoned, not by gpuward.
  // The worst severity that the kernel itself has reported about the node in the boot of this
  // Remediation; nullopt if unknown. User space can write into the kernel log too, so steps that
  // rest only on such lines must not go beyond a cordon.
  std::optional<Severity> confirmed_severity;
  // Class of the exporter's worst finding about the node in that boot (model/error_class). Alerts
  // about nodes have no class.
  std::string error_class;
  // The GPUs that needed a reset or worse before a disruptive step. The ledger also records the
  // machine's attempts by these GPUs (ledger.h).
  std::vector<std::string> gpus;
  // Findings of the exporter on the node while this Remediation was open, the worst first. They are
  // for people who may no longer have the node to inspect. No decision uses them.
  std::vector<NodeFinding> findings;
  std::optional<Cleared> cleared;
  // A severity worse than the evidence, because the steps for the evidence's severity did not help.
  std::optional<Severity> escalated_to;
  // The phase that gpuward has reliably reported to an operator; nullopt if the phase needs no
  // report.
  std::optional<Phase> notified_phase;
  // Severity of the evidence at the last notice `opened`. Worse evidence, or real evidence after a
  // drill, causes another notice. nullopt if there was no sink, and in records of versions without
  // this field.
  std::optional<Severity> notified_severity;
  bool is_notified_of_drill = false;
  // gpuward has so far only observed the node and does nothing in the present phase. When it starts
  // to act, the sinks get `opened` again.
  bool is_unacted = false;
  std::optional<ApprovalRecord> approval;  // For the step that waits for approval.
  std::vector<std::string> history;        // Earlier attempts and their outcomes, oldest first.
  std::optional<WallTime> closed_at;
  std::map<Milestone, WallTime> reached;  // When the Remediation first passed each milestone.
  std::map<ConditionType, Condition> conditions;
  std::vector<Notice> notices;  // Notices that not all their sinks have received yet, oldest first.

  [[nodiscard]] const StepRecord* find(Step step) const;
  [[nodiscard]] bool has_done(Step step) const;
  friend bool operator==(const RemediationStatus&, const RemediationStatus&) = default;
};

struct Remediation {
  std::string name, uid, resource_version;
  std::optional<WallTime> created;
  // The object is deleted in the API server and disappears once its finalizers are removed.
  bool deleting = false;
  std::vector<std::string> finalizers;
  std::string node, node_uid;
  std::string boot_id, instance_id;     // Values of the node when the Remediation was opened.
  std::string system_uuid = {};         // Value of the node when the Remediation was opened.
  Severity severity = Severity::kNone;  // Worst severity so far.
  std::vector<AlertEvidence> alerts;
  std::optional<DroppedAlerts> dropped;
  OperatorRequest wish;
  RemediationStatus status;

  [[nodiscard]] bool open() const { return is_open(status.phase); }
  // Returns whether gpuward has work: the Remediation is open, has notices to deliver, or waits for
  // gpuward to release it.
  [[nodiscard]] bool wants_us() const;
  // Returns whether all alerts of the node come from injected faults (decide/guards/drills).
  [[nodiscard]] bool is_drill() const;
  // Returns whether the alert is a drill's alert beside a real alert. Such an alert does not count.
  [[nodiscard]] bool is_drill_beside(const AlertEvidence& alert) const {
    return alert.drill && !is_drill();
  }
  // Returns whether the step counts. A step that was started in a drill has no effect on a real
  // fault.
  [[nodiscard]] bool counts(const StepRecord& record) const { return !record.drill || is_drill(); }
  [[nodiscard]] bool must_be_let_go() const;
  // Returns the severity of the worst evidence that is not cleared.
  [[nodiscard]] Severity evidence_severity() const;
  // Returns the worse of evidence_severity() and the severity of the last escalation.
  [[nodiscard]] Severity acted_severity() const {
    return std::max(evidence_severity(), status.escalated_to.value_or(Severity::kNone));
  }
  // Returns whether the alert counts for or against the steps. If there is a fault, an announcement
  // of the cloud does not count. A drill does not count beside a real alert.
  [[nodiscard]] bool counts(const AlertEvidence& alert) const;
  // Returns whether any alert that counts is firing.
  [[nodiscard]] bool any_firing() const;
  // Returns the severity of the worst firing alert.
  [[nodiscard]] Severity firing_severity() const;
  // Returns whether an alert of at least that severity has ended although a source reported it as
  // firing after an earlier end of the same episode. Announcements of the cloud are left out: they
  // end when the Node no longer has them, and no report repeats them.
  [[nodiscard]] bool is_end_contested(Severity least) const;
  // Returns whether dropped alerts may still fire.
  [[nodiscard]] bool may_have_dropped(WallTime now) const {
    return dropped && now - dropped->at < kDroppedLast;
  }
  // Returns the firing kOrphanedAlert, or null.
  [[nodiscard]] const AlertEvidence* orphaned_taints() const;
  // Returns when the last alert ended; nullopt while any alert fires, and if there is none.
  [[nodiscard]] std::optional<WallTime> ended_at() const;
};

// Returns whether gpuward has requested status.approval and no operator has answered.
[[nodiscard]] bool awaits_approval(const Remediation& remediation);

// Adds the exporter's findings on `node` to the status. Keeps the worst kMostNodeFindings and the
// first text of each finding, so that a repeat changes nothing.
void remember_findings(const kube::Node& node, RemediationStatus& status);

// Returns the class of the worst error of the exporter's findings and the firing alerts. If no
// alert fires, the ended alerts count. Empty if there is no class.
[[nodiscard]] std::string error_class_of(const Remediation& remediation);

}  // namespace gpuward::remediator
