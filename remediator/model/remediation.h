// What gpuward remembers about one unhealthy node: the Remediation resource as plain values. One is
// open per node UID. The spec holds evidence (written by the sources), the status what was decided
// and done (written by execution/). JSON is in records/remediation_json.
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
  kProgressing,  // the remediator is at it, and waits for nobody
  kHeld,         // nothing more is done without an operator
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
  kObserved,     // decided: record only
  kQuarantined,  // taint, or taint and cordon, are on the node
  kWaiting,      // the next step waits: for an approval, fresh evidence, a budget, a delay
  kCollecting,   // a Job on the node gathers what the next steps would destroy
  kDraining,
  kResetting,
  kRebooting,
  kTesting,      // a Job on the node runs the long diagnostics
  kTerminating,  // its machine is to go for good, or is going
  kVerifying,
  kHeld,        // nothing more can be done without an operator; what stands stays
  kPaused,      // an operator undid something of ours, or set pause: nothing more is done
  kReleased,    // closed: what was ours is off the node again
  kEnded,       // closed: the alerts ended before anything was done
  kReplaced,    // closed: its machine is gone for good, and the node with it; where the policy
                // waits for a replacement, that one has joined
  kSuperseded,  // closed: the node is gone or is another one by now
  kCancelled,   // closed: an operator said cancel; what was ours is off the node again
};

// Keeps a deleted Remediation until what is ours is off its node.
inline constexpr std::string_view kFinalizer = "gpuward.dev/remediation";

[[nodiscard]] std::string_view to_string(Phase phase);  // "Pending", ...
[[nodiscard]] std::optional<Phase> parse_phase(std::string_view text);
[[nodiscard]] bool is_open(Phase phase);
// Nothing goes on without an operator, who has to be told of it, whatever crashes.
[[nodiscard]] bool needs_operator(Phase phase);

// Of a node that has our taint, annotation or cordon and no record of it: raised by the remediator
// itself (intake/orphaned_taints), never by an Alertmanager.
inline constexpr std::string_view kOrphanedAlert = "GpuwardMarksWithoutRecord";
// Its fingerprint begins with that, which no sender of the webhook can choose.
inline constexpr std::string_view kOrphanedOrigin = "marks.";
struct RemediationStatus;
// The policy would act on the node, and a budget or a storm leaves it in service as it is. Somebody
// has to be told of that too.
[[nodiscard]] bool is_left_in_service(const RemediationStatus& status);
// The rule of a node that will not be drained before what its cloud has announced begins; somebody
// has to be told of that too.
inline constexpr std::string_view kLateRule = "maintenance.late";
// The rule of a Remediation that leaves its node to another one.
inline constexpr std::string_view kOnePerNodeRule = "guard.one-per-node";

// One alert about the node. Identity is the fingerprint; nothing here changes when it is merely
// repeated.
struct AlertEvidence {
  std::string alertname;
  std::string fingerprint;
  Severity severity = Severity::kNone;
  WallTime starts_at;
  WallTime first_received;
  std::optional<WallTime> ended_at;  // absent while it fires
  bool foreign = false;          // not of gpuward's rules: never enough for disruption by itself
  std::string error_class = {};  // model/error_class
  // It was said to fire after an end of this same episode: that end was no end, and the next may be
  // none either.
  bool contested = false;
  std::string advice = {};  // of a language model: its reason, how sure it is, what it was asked
  bool drill = false;       // of an injected fault: no evidence beside what is real

  [[nodiscard]] bool firing() const { return !ended_at.has_value(); }
  friend bool operator==(const AlertEvidence&, const AlertEvidence&) = default;
};

// Alerts that fired and for which there was no room.
struct DroppedAlerts {
  Severity severity = Severity::kNone;  // of the worst
  WallTime at;                          // when that last happened

  friend bool operator==(const DroppedAlerts&, const DroppedAlerts&) = default;
};

// How long after that they may fire still: longer than an Alertmanager waits with its repeats.
inline constexpr std::chrono::hours kDroppedLast{24};

// A report has said that what raised the severity is over.
struct Cleared {
  Severity severity = Severity::kNone;  // what is still left of it
  WallTime at;                          // when the report was measured

  friend bool operator==(const Cleared&, const Cleared&) = default;
};

// What a step has to know again later: "bootIDBefore", "healthySince", ...
using Facts = std::map<std::string, std::string>;
// The fact of a failed step that what is worse would not help: it says nothing of the node, or the
// policy wants an operator to look.
inline const std::string kNeedsOperatorFact = "needsHuman";

struct StepRecord {
  Step step = Step::kTaint;
  StepResult result = StepResult::kIntended;
  // Of the Remediation when the step was intended: at a worse one the step is taken anew.
  Severity severity = Severity::kNone;
  std::optional<WallTime> intent_at, finished_at;
  int attempts = 0;
  std::string message;
  // How long it has run: time in which a leader was there and it could act (execution/step_clock),
  // a minute behind at most while it is under way.
  int active_seconds = 0;
  Facts facts = {};
  std::string pool = {};  // whose plan it was begun under
  bool drill = false;     // begun in a drill: it counts for no real fault

  friend bool operator==(const StepRecord&, const StepRecord&) = default;
};

// A step that an operator has to approve. The token stands for Remediation, step, node, instance,
// evidence and the time of the request: an approval to anything else is none.
struct ApprovalRecord {
  Step step = Step::kReboot;
  std::string token;
  WallTime requested_at;
  std::string by;                   // who has approved, as admission has checked it
  std::optional<WallTime> seen_at;  // when the remediator first saw the approval

  friend bool operator==(const ApprovalRecord&, const ApprovalRecord&) = default;
};

// What people have said by annotations on the Remediation.
struct OperatorRequest {
  bool cancel = false, pause = false;
  bool machine_replaced =
      false;  // what is known of the machine is not true of the one that is there
  std::string approved_token, approved_by;
  std::string last_command = {};  // who has asked what, as gpuwardctl tells it: for people alone

  friend bool operator==(const OperatorRequest&, const OperatorRequest&) = default;
};

struct RemediationStatus {
  Phase phase = Phase::kPending;
  Mode mode = Mode::kObserve;        // at the last decision
  std::string rule;                  // which line of the policy decided
  std::string message;               // why it stands where it stands, for people
  std::vector<std::string> reasons;  // the whole chain, evidence first
  std::vector<StepRecord> steps;
  std::optional<bool> pre_existing_cordon;  // the node was cordoned by somebody else before us
  // The worst that the kernel itself has said of the node in the boot of this Remediation; absent
  // where that is not known. User space can write into the kernel log too: what rests on such lines
  // alone must not go beyond a cordon.
  std::optional<Severity> confirmed_severity;
  // Of the worst finding that the exporter has told of the node in that boot (model/error_class);
  // alerts about nodes name none.
  std::string error_class;
  // Of the GPUs that needed a reset or worse when something was about to be taken away for them:
  // the machine's attempts are remembered by them too (ledger.h).
  std::vector<std::string> gpus;
  // What the exporter has written on the node while this was open, the worst first: for people, who
  // may have no node any more. Nothing is decided on it.
  std::vector<NodeFinding> findings;
  std::optional<Cleared> cleared;
  // Worse than the evidence, because the steps of the evidence's severity did not help.
  std::optional<Severity> escalated_to;
  // The phase of which an operator has been told for sure; absent where its phase need not be told
  // so.
  std::optional<Phase> notified_phase;
  // Severity of the evidence at the last `opened`: worse evidence, or real evidence after a drill,
  // makes another one. Absent if there was no sink, and in records of versions without this field.
  std::optional<Severity> notified_severity;
  bool is_notified_of_drill = false;
  // The node was only observed before the present phase, in which gpuward does nothing either: when
  // gpuward begins to act, sinks get `opened` again.
  bool is_unacted = false;
  std::optional<ApprovalRecord> approval;  // of the step that waits for one
  std::vector<std::string> history;        // what was tried before and how it ended; oldest first
  std::optional<WallTime> closed_at;
  std::map<Milestone, WallTime> reached;  // each once: when it was first past it
  std::map<ConditionType, Condition> conditions;
  std::vector<Notice> notices;  // not told to all who want them yet, oldest first

  [[nodiscard]] const StepRecord* find(Step step) const;
  [[nodiscard]] bool has_done(Step step) const;
  friend bool operator==(const RemediationStatus&, const RemediationStatus&) = default;
};

struct Remediation {
  std::string name, uid, resource_version;
  std::optional<WallTime> created;
  bool deleting = false;  // somebody has deleted it: it goes once its finalizers are gone
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
  // Something is to be done for it: it is open, is to be told of, or waits for us to let it go.
  [[nodiscard]] bool wants_us() const;
  // All that is said of the node is of injected faults (guards/drills).
  [[nodiscard]] bool is_drill() const;
  // A drill where something is real: it says nothing.
  [[nodiscard]] bool is_drill_beside(const AlertEvidence& alert) const {
    return alert.drill && !is_drill();
  }
  // A step that was begun in a drill has done nothing for what is real.
  [[nodiscard]] bool counts(const StepRecord& record) const { return !record.drill || is_drill(); }
  [[nodiscard]] bool must_be_let_go() const;
  // The worst of the evidence that is not cleared.
  [[nodiscard]] Severity evidence_severity() const;
  // That, or what it was escalated to.
  [[nodiscard]] Severity acted_severity() const {
    return std::max(evidence_severity(), status.escalated_to.value_or(Severity::kNone));
  }
  // Whether it speaks for or against what is done: of a fault, what the cloud announces does not,
  // nor does a drill where anything is real.
  [[nodiscard]] bool counts(const AlertEvidence& alert) const;
  // Of those that count.
  [[nodiscard]] bool any_firing() const;
  // Of the alerts that fire.
  [[nodiscard]] Severity firing_severity() const;
  // An alert of at least that severity has ended, and was said to fire after such an end before.
  // What the cloud announces is over when the Node no longer has it: no report says it again.
  [[nodiscard]] bool is_end_contested(Severity least) const;
  // Alerts that are not kept may fire still.
  [[nodiscard]] bool may_have_dropped(WallTime now) const {
    return dropped && now - dropped->at < kDroppedLast;
  }
  [[nodiscard]] const AlertEvidence* orphaned_taints() const;  // kOrphanedAlert that fires, or null
  // When the last of the alerts ended; nullopt while any fires or where there is none.
  [[nodiscard]] std::optional<WallTime> ended_at() const;
};

// Its status.approval is asked for, and nobody has answered.
[[nodiscard]] bool awaits_approval(const Remediation& remediation);

// Adds what the exporter says on `node`: nothing that was found is forgotten, and of each thing the
// first word stays, so that a repeat changes nothing. At most kMostNodeFindings, the worst.
void remember_findings(const kube::Node& node, RemediationStatus& status);

// The class of the worst error, of those that the exporter has told and of the alerts that fire;
// where none does, of those that did. Empty where there is none.
[[nodiscard]] std::string error_class_of(const Remediation& remediation);

}  // namespace gpuward::remediator
