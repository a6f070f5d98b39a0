#include "remediator/cluster/remediation_fields.h"

#include <algorithm>
#include <chrono>

namespace gpuward::remediator {
namespace {

// With all the digits of the source: nine if three are not enough.
std::string as_said(WallTime time) {
  const auto second = std::chrono::floor<std::chrono::seconds>(time);
  const auto nanoseconds = std::chrono::nanoseconds(time - second).count();
  if (nanoseconds % 1'000'000 == 0) return to_rfc3339_ms(time);
  const std::string text = to_rfc3339(time);
  const std::string digits = std::to_string(1'000'000'000 + nanoseconds).substr(1);
  return text.substr(0, text.size() - 1) + '.' + digits + 'Z';
}

Form<std::string> name_of_node() {
  Form<std::string> form = text(253, 1);
  form.schema["x-kubernetes-validations"] = {
      {{"rule", "self == oldSelf"}, {"message", "a Remediation belongs to one node"}}};
  return form;
}

Form<Severity> severity(Severity least = Severity::kNone) {
  return word(parse_severity, least, Severity::kIsolate);
}

const Fields<AlertEvidence>& alert_fields() {
  using Alert = AlertEvidence;
  static const Fields<Alert> kFields = {
      field("alertname", &Alert::alertname, text(1024), "Name of the alert at its source."),
      field("fingerprint", &Alert::fingerprint, text(64, 1),
            "Hash of the alert's labels: its identity.")
          .required(),
      field("severity", &Alert::severity, severity(Severity::kMonitor),
            "Severity of the alert: what the node needs."),
      field("startsAt", &Alert::starts_at, time(as_said), "When the alert started to fire."),
      field("firstReceived", &Alert::first_received, time(),
            "When the remediator first received it."),
      field("endedAt", &Alert::ended_at, time(as_said),
            "When it ended; absent while the alert fires."),
      sparse_field(
          "foreign", &Alert::foreign, flag(),
          "The alert does not come from gpuward's rules; foreign_alerts in the policy sets its "
          "node and severity."),
      sparse_field(
          "errorClass", &Alert::error_class, text(64),
          "Class of the error in notifications: XID_CRITICAL_79, ECC_ERROR, GPU_HEALTH_ERROR, ..."),
      sparse_field("contested", &Alert::contested, flag(),
                   "The alert was reported as firing again after the same episode had been "
                   "reported as ended."),
      sparse_field(
          "advice", &Alert::advice, text(1024),
          "Advice from a language model (triage): its reason, its confidence, and the question. "
          "For a silent node: its last known state."),
      sparse_field("drill", &Alert::drill, flag(),
                   "The alert reports a fault that was injected for a drill. A Remediation whose "
                   "alerts are all from drills is itself a drill."),
  };
  return kFields;
}

const Fields<DroppedAlerts>& dropped_fields() {
  static const Fields<DroppedAlerts> kFields = {
      field("severity", &DroppedAlerts::severity, severity(), "Worst severity of these alerts.")
          .vital(),
      field("at", &DroppedAlerts::at, time(as_said), "When an alert was last dropped.").vital(),
  };
  return kFields;
}

const Fields<Cleared>& cleared_fields() {
  static const Fields<Cleared> kFields = {
      field("severity", &Cleared::severity, severity(), "The remaining severity.").vital(),
      field("at", &Cleared::at, time(as_said),
            "When the report was measured. Alerts that are firing, or that ended after this time, "
            "still count.")
          .vital(),
  };
  return kFields;
}

const Fields<NodeFinding>& finding_fields() {
  using Found = NodeFinding;
  static const Fields<Found> kFields = {
      field("check", &Found::check, text(64), "Name of the check: xid, gpu, 2-efa-enumeration, ...")
          .required(),
      sparse_field("code", &Found::code, text(64), "Code of the finding: 79, gpu_lost, ..."),
      sparse_field("severity", &Found::severity, text(64), "Severity of this finding alone."),
      sparse_field("gpu", &Found::gpu, text(64), "The driver's index of the GPU."),
      sparse_field("pciBusID", &Found::pci_bus_id, text(64),
                   "PCI address of the GPU or of the faulty device."),
      sparse_field("serial", &Found::serial, text(64), "Serial number of the GPU's board."),
      sparse_field("workload", &Found::workload, text(512),
                   "The pods that used the GPU: namespace/pod, separated by commas."),
      sparse_field("meaning", &Found::meaning, text(512), "What the finding means, in words."),
      sparse_field("line", &Found::line, text(512),
                   "The line of the kernel log, or the value that the check read."),
      sparse_field(
          "witness", &Found::witness, text(64),
          "The second source that confirms a line of the kernel log; absent if there is none."),
      field("firstSeen", &Found::first_seen, time(), "When the exporter first saw it.").required(),
      field("lastSeen", &Found::last_seen, time(), "When the finding was last recorded.")
          .required(),
      sparse_field("unknown", &Found::is_unknown, flag(),
                   "gpuward's tables do not contain this code."),
  };
  return kFields;
}

const Fields<StepRecord>& step_fields() {
  static const Fields<StepRecord> kFields = {
      field("name", &StepRecord::step, word(parse_step, Step::kTaint, Step::kNotify),
            "Name of the step in the policy.")
          .required()
          .vital(),
      field("result", &StepRecord::result,
            word(parse_step_result, StepResult::kIntended, StepResult::kFailed),
            "State of the step; `intended` is written before anything is done.")
          .required(),
      field("intentAt", &StepRecord::intent_at, time(), "When the intent was written."),
      field("finishedAt", &StepRecord::finished_at, time(), "When the step succeeded or failed."),
      field("severity", &StepRecord::severity, severity(),
            "Severity of the Remediation when the intent was written."),
      field("attempts", &StepRecord::attempts, count(), "How many times the step was begun."),
      field("message", &StepRecord::message, text(), "The result, in words."),
      sparse_field(
          "activeSeconds", &StepRecord::active_seconds, count(),
          "Seconds in which a leader watched the step and the step could act. Its limits count "
          "these seconds; a pause, the stop switch and time without a leader do not count."),
      sparse_field(
          "pool", &StepRecord::pool, text(253),
          "The pool in the policy whose steps apply; absent if the steps for all nodes apply."),
      sparse_field("facts", &StepRecord::facts, text_map(16), "Values that the step needs later."),
      sparse_field("drill", &StepRecord::drill, flag(),
                   "The step was begun in a drill: it does not count for a real fault."),
  };
  return kFields;
}

const Fields<ApprovalRecord>& approval_fields() {
  static const Fields<ApprovalRecord> kFields = {
      field("step", &ApprovalRecord::step, word(parse_step), "The step that awaits approval.")
          .required()
          .vital(),
      field("token", &ApprovalRecord::token, text(), "The token that an approval must contain.")
          .required(),
      field("requestedAt", &ApprovalRecord::requested_at, time(),
            "When the approval was requested.")
          .required()
          .vital(),
      field("by", &ApprovalRecord::by, text(), "Who approved; empty until then."),
      field("seenAt", &ApprovalRecord::seen_at, time(),
            "When the remediator first saw the approval."),
  };
  return kFields;
}

const Fields<Notice>& notice_fields() {
  static const Fields<Notice> kFields = {
      field("id", &Notice::id, text(), "Identifies the notification; the same for each retry.")
          .required(),
      field("moment", &Notice::moment, word(parse_moment, Moment::kOpened, Moment::kNotify),
            "The event that it reports.")
          .required()
          .vital(),
      field("sinks", &Notice::sinks, list_of(text()),
            "Names of the sinks that have not received it yet."),
      field("at", &Notice::at, time(), "When it happened.").required().vital(),
      field("severity", &Notice::severity, word(parse_severity),
            "Severity of the Remediation at that time."),
      field("step", &Notice::step, text(), "The step that it is about; empty without one."),
      field("phase", &Notice::phase, text(), "Phase of the Remediation at that time."),
      field("mode", &Notice::mode, text(), "Mode of the policy at that time."),
      field("message", &Notice::message, text(), "Message of the Remediation at that time."),
      sparse_field("drill", &Notice::drill, flag(),
                   "At that time, all alerts of the Remediation came from a drill."),
  };
  return kFields;
}

using Reached = std::map<Milestone, WallTime>;

Field<Reached> milestone(Milestone milestone, std::string_view about) {
  return computed_field<Reached>(
      to_string(milestone), time(), about,
      [milestone](const Reached& reached) {
        const auto found = reached.find(milestone);
        return found == reached.end() ? std::nullopt : std::optional(found->second);
      },
      [milestone](Reached& reached, WallTime at) { reached[milestone] = at; });
}

const Fields<Reached>& reached_fields() {
  static const Fields<Reached> kFields = {
      milestone(Milestone::kAccepted, "The alert is recorded in the API server."),
      milestone(Milestone::kTainted, "The taint is on the node."),
      milestone(Milestone::kCordoned, "The node is cordoned."),
      milestone(Milestone::kDrained, "The pods are gone."),
      milestone(Milestone::kActed,
                "The GPUs were reset, or the machine was restarted or replaced."),
      milestone(Milestone::kRecovered, "The node, or its replacement, is in service."),
  };
  return kFields;
}

// A condition as kubectl expects it: with the phase and the message, which the status already has.
struct ConditionEntry {
  ConditionType type = ConditionType::kProgressing;
  bool holds = false;
  Phase reason = Phase::kPending;
  std::string message;
  WallTime since;
};

std::optional<ConditionType> parse_condition(std::string_view text) {
  const auto* const found =
      std::ranges::find(kAllConditions, text, [](ConditionType type) { return to_string(type); });
  return found == kAllConditions.end() ? std::nullopt : std::optional(*found);
}

Form<bool> truth() {
  return {.schema = {{"type", "string"}, {"enum", {"True", "False"}}},
          .write = [](const bool& holds) { return Json(holds ? "True" : "False"); },
          .read = [](const Json& json) { return std::optional(json == "True"); }};
}

const Fields<ConditionEntry>& condition_fields() {
  using Entry = ConditionEntry;
  static const Fields<Entry> kFields = {
      field("type", &Entry::type, word(parse_condition),
            "Progressing, Held (waits for an operator) or Closed.")
          .required()
          .vital(),
      field("status", &Entry::holds, truth(), "Whether the condition holds.").required(),
      field("reason", &Entry::reason, word(parse_phase), "The phase.").required(),
      field("message", &Entry::message, text(), "The message of the status.").required(),
      field("lastTransitionTime", &Entry::since, time(to_rfc3339), "When status last changed.")
          .required()
          .vital(),
  };
  return kFields;
}

std::optional<std::vector<ConditionEntry>> condition_entries(const RemediationStatus& status) {
  std::vector<ConditionEntry> entries;
  for (const auto& [type, condition] : status.conditions)
    entries.push_back({type, condition.holds, status.phase, status.message, condition.since});
  return entries;
}

void set_conditions(RemediationStatus& status, const std::vector<ConditionEntry>& entries) {
  for (const ConditionEntry& entry : entries)
    status.conditions[entry.type] = {.holds = entry.holds, .since = entry.since};
}

// The previous version's schema has only Held and Paused, and refuses the whole status for another
// phase. Another field therefore records that an operator was notified of a waiting node.
std::optional<Phase> told_phase(const RemediationStatus& status) {
  return status.notified_phase == Phase::kWaiting ? std::nullopt : status.notified_phase;
}

std::optional<bool> told_waiting(const RemediationStatus& status) {
  return status.notified_phase == Phase::kWaiting ? std::optional(true) : std::nullopt;
}

std::optional<std::string> worst_found(const RemediationStatus& status) {
  if (status.findings.empty()) return std::nullopt;
  return summary_of(status.findings.front());
}

void set_told_waiting(RemediationStatus& status, bool is_told) {
  if (is_told) status.notified_phase = Phase::kWaiting;
}

}  // namespace

const Fields<Remediation>& identity_fields() {
  static const Fields<Remediation> kFields = {
      field("nodeName", &Remediation::node, name_of_node(), "The node's name.").required(),
      field("nodeUID", &Remediation::node_uid, name_of_node(),
            "UID of the node; a new node with the same name has another UID.")
          .required(),
      field("bootID", &Remediation::boot_id, text(128),
            "Boot ID of the node when the Remediation was opened."),
      field("instanceID", &Remediation::instance_id, text(1024),
            "spec.providerID of the node when the Remediation was opened."),
      sparse_field("systemUUID", &Remediation::system_uuid, text(128),
                   "status.nodeInfo.systemUUID of the node when the Remediation was opened."),
  };
  return kFields;
}

const Fields<Remediation>& evidence_fields() {
  static const Fields<Remediation> kFields = {
      field("severity", &Remediation::severity, severity(Severity::kMonitor),
            "The worst severity so far.")
          .required(),
      field("alerts", &Remediation::alerts, list_by("fingerprint", object_of(alert_fields()), 64),
            "The alerts about the node, including those that have ended."),
      field("dropped", &Remediation::dropped, object_of(dropped_fields()),
            "Alerts that were not stored because the maximum number of firing alerts was reached."),
  };
  return kFields;
}

const Fields<RemediationStatus>& status_fields() {
  using Status = RemediationStatus;
  static const Fields<Status> kFields = {
      field("phase", &Status::phase, word(parse_phase, Phase::kPending, Phase::kCancelled),
            "The phase of the Remediation."),
      field("mode", &Status::mode, word(parse_mode, Mode::kObserve, Mode::kFull),
            "The mode of the policy at the last decision."),
      field("rule", &Status::rule, text(), "The rule of the policy, or the guard, that decided."),
      field("message", &Status::message, text(), "The reason for the phase, in words."),
      field("reasons", &Status::reasons, list_of(text(), 64),
            "All reasons for the decision, evidence first."),
      field("preExistingCordon", &Status::pre_existing_cordon, flag(),
            "The node was already cordoned when gpuward cordoned it; gpuward never removes that "
            "cordon."),
      field("kernelSeverity", &Status::confirmed_severity, severity(),
            "The worst severity in this boot that is supported by more than a kernel log line; "
            "absent "
            "if unknown."),
      sparse_field("errorClass", &Status::error_class, text(64),
                   "Class of the worst finding that the exporter reported in this boot: "
                   "XID_CRITICAL_79, ECC_ERROR, ..."),
      field("gpus", &Status::gpus, list_of(text(128), 16),
            "Serial numbers (UUIDs if a board has none) of the GPUs that needed a reset or "
            "worse."),
      sparse_field("findings", &Status::findings,
                   list_of(object_of(finding_fields()), kMostNodeFindings),
                   "The findings that the exporter wrote on the node, the worst first."),
      computed_field<Status>("found", text(512),
                             "The worst finding in short: xid 79 on GPU 3 (0000:4e:00).",
                             worst_found, [](Status&, const std::string&) {}),
      field("cleared", &Status::cleared, object_of(cleared_fields()),
            "A report showed that the cause of spec.severity has ended; severity is what remains."),
      field("escalatedTo", &Status::escalated_to, severity(Severity::kReset),
            "The severity to which the Remediation escalated, because the steps of the evidence's "
            "severity did not help."),
      sparse_field("toldDrill", &Status::is_notified_of_drill, flag(),
                   "The last notification `opened` was about a drill; a real fault triggers it "
                   "again."),
      sparse_field("toldObserved", &Status::is_unacted, flag(),
                   "The node was only observed before the current phase; when gpuward begins to "
                   "act, it sends `opened` again."),
      computed_field<Status>(
          "toldPhase", word(parse_phase, Phase::kHeld, Phase::kPaused),
          "Held or Paused once gpuward has notified an operator of that phase; while this value "
          "differs from the phase, gpuward repeats the notification.",
          told_phase, [](Status& status, Phase phase) { status.notified_phase = phase; }),
      field("toldSeverity", &Status::notified_severity, severity(),
            "Severity of the evidence at the last notification `opened`; a worse severity triggers "
            "it again."),
      computed_field<Status>("toldWaiting", flag(),
                             "An operator has been notified that a budget or an alert storm keeps "
                             "the node in service.",
                             told_waiting, set_told_waiting),
      field(
          "approval", &Status::approval, object_of(approval_fields()),
          "The step that awaits approval; the token identifies step, node, instance and evidence."),
      field("history", &Status::history, list_of(text(), 32),
            "Earlier attempts and their results, the oldest first."),
      sparse_field("notices", &Status::notices, list_of(object_of(notice_fields()), kMaxNotices),
                   "Notifications that at least one sink has not received yet; they are sent again "
                   "after a crash."),
      field("closedAt", &Status::closed_at, time(),
            "When the Remediation was closed; absent while it is open."),
      computed_field<Status>(
          "conditions", list_by("type", object_of(condition_fields()), 8),
          "For `kubectl wait --for=condition=Closed`. Each condition is derived from the phase.",
          condition_entries, set_conditions),
      field("reached", &Status::reached, object_of(reached_fields()),
            "When each milestone was first reached, for the metric "
            "gpuward_remediator_fault_age_seconds."),
      field("steps", &Status::steps, list_by("name", object_of(step_fields()), 32),
            "The steps, in the order in which they began."),
  };
  return kFields;
}

Json remediation_schema() {
  Fields<Remediation> of_spec = identity_fields();
  of_spec.insert(of_spec.end(), evidence_fields().begin(), evidence_fields().end());
  Json spec = schema_of(of_spec);
  spec["description"] = "The evidence. Written by the sources of alerts.";
  spec["x-kubernetes-map-type"] = "atomic";
  Json status = schema_of(status_fields());
  status["description"] = "The decisions and actions. Written only by the remediator.";
  status["x-kubernetes-map-type"] = "atomic";
  return {{"type", "object"},
          {"description",
           "An unhealthy node, the evidence against it, and gpuward's decisions and actions."},
          {"required", {"spec"}},
          {"properties",
           {{"apiVersion", {{"type", "string"}}},
            {"kind", {{"type", "string"}}},
            {"metadata", {{"type", "object"}}},
            {"spec", std::move(spec)},
            {"status", std::move(status)}}}};
}

}  // namespace gpuward::remediator
