#include "remediator/records/remediation_fields.h"

#include <algorithm>
#include <chrono>

namespace gpuward::remediator {
namespace {

// With all the digits that a source has said: nine where three are not enough.
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
      field("alertname", &Alert::alertname, text(1024), "As the source names the alert."),
      field("fingerprint", &Alert::fingerprint, text(64, 1), "Of its labels: the alert's identity.")
          .required(),
      field("severity", &Alert::severity, severity(Severity::kMonitor),
            "What the alert says that the node needs."),
      field("startsAt", &Alert::starts_at, time(as_said), "When it began to fire."),
      field("firstReceived", &Alert::first_received, time(),
            "When the remediator first received it."),
      field("endedAt", &Alert::ended_at, time(as_said), "Absent while the alert fires."),
      sparse_field("foreign", &Alert::foreign, flag(),
                   "Not of gpuward's rules; node and severity are what foreign_alerts of the "
                   "policy says."),
      sparse_field("errorClass", &Alert::error_class, text(64),
                   "XID_CRITICAL_79, ECC_ERROR, GPU_HEALTH_ERROR, ...; as notifications name it."),
      sparse_field("contested", &Alert::contested, flag(),
                   "It was said to fire again after an end of the same episode."),
      sparse_field("advice", &Alert::advice, text(1024),
                   "Of a language model (triage): its reason, how sure it is, and what it was "
                   "asked. Of a silent node: what was known of it last."),
  };
  return kFields;
}

const Fields<DroppedAlerts>& dropped_fields() {
  static const Fields<DroppedAlerts> kFields = {
      field("severity", &DroppedAlerts::severity, severity(), "Of the worst of them.").vital(),
      field("at", &DroppedAlerts::at, time(as_said), "When that last happened.").vital(),
  };
  return kFields;
}

const Fields<Cleared>& cleared_fields() {
  static const Fields<Cleared> kFields = {
      field("severity", &Cleared::severity, severity(), "What is left.").vital(),
      field("at", &Cleared::at, time(as_said),
            "When the report was measured. What fires or ended after it counts again.")
          .vital(),
  };
  return kFields;
}

const Fields<NodeFinding>& finding_fields() {
  using Found = NodeFinding;
  static const Fields<Found> kFields = {
      field("check", &Found::check, text(64), "xid, gpu, 2-efa-enumeration, ...").required(),
      sparse_field("code", &Found::code, text(64), "What it has found: 79, gpu_lost, ..."),
      sparse_field("severity", &Found::severity, text(64), "Of this finding by itself."),
      sparse_field("gpu", &Found::gpu, text(64), "The driver's index of the GPU."),
      sparse_field("pciBusID", &Found::pci_bus_id, text(64), "Of the GPU or of what is broken."),
      sparse_field("serial", &Found::serial, text(64), "Of the GPU's board."),
      sparse_field("workload", &Found::workload, text(512),
                   "Who used the GPU: namespace/pod, several with commas."),
      sparse_field("meaning", &Found::meaning, text(512), "In words."),
      sparse_field("line", &Found::line, text(512), "Of the kernel, or what the check has read."),
      field("firstSeen", &Found::first_seen, time(), "By the exporter.").required(),
      field("lastSeen", &Found::last_seen, time(), "When this was written down.").required(),
      sparse_field("unknown", &Found::is_unknown, flag(), "No table of gpuward has this number."),
  };
  return kFields;
}

const Fields<StepRecord>& step_fields() {
  static const Fields<StepRecord> kFields = {
      field("name", &StepRecord::step, word(parse_step, Step::kTaint, Step::kNotify),
            "As the policy calls the step.")
          .required()
          .vital(),
      field("result", &StepRecord::result,
            word(parse_step_result, StepResult::kIntended, StepResult::kFailed),
            "How far it has come; `intended` is written before anything is done.")
          .required(),
      field("intentAt", &StepRecord::intent_at, time(), "When it was intended."),
      field("finishedAt", &StepRecord::finished_at, time(), "When it was done or had failed."),
      field("severity", &StepRecord::severity, severity(),
            "The Remediation's when the step was intended."),
      field("attempts", &StepRecord::attempts, count(), "How often it was begun."),
      field("message", &StepRecord::message, text(), "What came of it, for people."),
      sparse_field("pool", &StepRecord::pool, text(253),
                   "The policy's pool whose plan the step was begun under; absent where it is that "
                   "of all nodes."),
      sparse_field("facts", &StepRecord::facts, text_map(16),
                   "What the step has to know again later."),
  };
  return kFields;
}

const Fields<ApprovalRecord>& approval_fields() {
  static const Fields<ApprovalRecord> kFields = {
      field("step", &ApprovalRecord::step, word(parse_step), "The step that waits.")
          .required()
          .vital(),
      field("token", &ApprovalRecord::token, text(), "What an approval has to name.").required(),
      field("requestedAt", &ApprovalRecord::requested_at, time(), "When it was asked for.")
          .required()
          .vital(),
      field("by", &ApprovalRecord::by, text(), "Who has approved; empty until then."),
      field("seenAt", &ApprovalRecord::seen_at, time(),
            "When the remediator first saw the approval."),
  };
  return kFields;
}

const Fields<Notice>& notice_fields() {
  static const Fields<Notice> kFields = {
      field("id", &Notice::id, text(), "Stays the same however often it is sent.").required(),
      field("moment", &Notice::moment, word(parse_moment, Moment::kOpened, Moment::kNotify),
            "What it is about.")
          .required()
          .vital(),
      field("sinks", &Notice::sinks, list_of(text()), "Those that do not have it yet, by name."),
      field("at", &Notice::at, time(), "When it happened.").required().vital(),
      field("severity", &Notice::severity, word(parse_severity), "The Remediation's then."),
      field("step", &Notice::step, text(), "Empty where it is about none."),
      field("phase", &Notice::phase, text(), "The Remediation's then."),
      field("mode", &Notice::mode, text(), "The Remediation's then."),
      field("message", &Notice::message, text(), "The Remediation's then."),
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
      milestone(Milestone::kAccepted, "The alert is in the API server."),
      milestone(Milestone::kTainted, "The taint is on the node."),
      milestone(Milestone::kCordoned, "The node is cordoned."),
      milestone(Milestone::kDrained, "The pods are gone."),
      milestone(Milestone::kActed, "GPUs were reset, or the machine restarted or replaced."),
      milestone(Milestone::kRecovered, "The node is back in service, or a replacement is."),
  };
  return kFields;
}

// A condition as kubectl expects it: with the phase and the message, which the status has once.
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
            "Progressing, Held (nothing more is done without an operator) or Closed.")
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

// The schema of the version before has Held and Paused only, and refuses the whole status for
// another phase: that an operator knows of a node that waits is said by a field of its own.
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
            "The node that is meant; another node of that name is another node.")
          .required(),
      field("bootID", &Remediation::boot_id, text(128),
            "The boot in which the node was when the Remediation was opened."),
      field("instanceID", &Remediation::instance_id, text(1024),
            "spec.providerID of the node when the Remediation was opened."),
      sparse_field("systemUUID", &Remediation::system_uuid, text(128),
                   "status.nodeInfo.systemUUID of the node when the Remediation was opened."),
  };
  return kFields;
}

const Fields<Remediation>& evidence_fields() {
  static const Fields<Remediation> kFields = {
      field("severity", &Remediation::severity, severity(Severity::kMonitor), "The worst so far.")
          .required(),
      field("alerts", &Remediation::alerts, list_by("fingerprint", object_of(alert_fields()), 64),
            "The alerts about the node, those that ended too."),
      field("dropped", &Remediation::dropped, object_of(dropped_fields()),
            "Alerts that fired while as many as are kept fired already."),
  };
  return kFields;
}

const Fields<RemediationStatus>& status_fields() {
  using Status = RemediationStatus;
  static const Fields<Status> kFields = {
      field("phase", &Status::phase, word(parse_phase, Phase::kPending, Phase::kCancelled),
            "Where the Remediation stands."),
      field("mode", &Status::mode, word(parse_mode, Mode::kObserve, Mode::kFull),
            "How far the policy let it go at the last decision."),
      field("rule", &Status::rule, text(), "The line of the policy, or the guard, that decided."),
      field("message", &Status::message, text(), "Why it stands there, for people."),
      field("reasons", &Status::reasons, list_of(text(), 64),
            "The whole chain of reasons, evidence first."),
      field("preExistingCordon", &Status::pre_existing_cordon, flag(),
            "The node was cordoned by somebody else before; that cordon is never undone."),
      field("kernelSeverity", &Status::kernel_severity, severity(),
            "The worst that the kernel itself has said of the node in this boot; absent where that "
            "is not known."),
      sparse_field("errorClass", &Status::error_class, text(64),
                   "Of the worst finding that the exporter has reported of the node in this boot; "
                   "XID_CRITICAL_79, ECC_ERROR, ..."),
      field("gpus", &Status::gpus, list_of(text(128), 16),
            "Serial numbers (UUIDs where a board has none) of the GPUs that needed a reset or "
            "worse."),
      sparse_field("findings", &Status::findings,
                   list_of(object_of(finding_fields()), kMostNodeFindings),
                   "What the exporter has said on the node is broken, the worst first."),
      computed_field<Status>("found", text(512),
                             "The worst of it in short: xid 79 on GPU 3 (0000:4e:00).", worst_found,
                             [](Status&, const std::string&) {}),
      field("cleared", &Status::cleared, object_of(cleared_fields()),
            "A report has said that what raised spec.severity is over; severity is what is left."),
      field("escalatedTo", &Status::escalated_to, severity(Severity::kReset),
            "Worse than the evidence, because the steps of its severity did not help."),
      computed_field<Status>(
          "toldPhase", word(parse_phase, Phase::kHeld, Phase::kPaused),
          "Held or Paused, once an operator has been notified of it for sure; where it lags behind "
          "the phase, the notification is repeated.",
          told_phase, [](Status& status, Phase phase) { status.notified_phase = phase; }),
      computed_field<Status>(
          "toldWaiting", flag(),
          "An operator has been notified for sure that a budget or a storm leaves "
          "the node in service.",
          told_waiting, set_told_waiting),
      field("approval", &Status::approval, object_of(approval_fields()),
            "The step that waits for an operator; the token stands for step, node, instance and "
            "evidence."),
      field("history", &Status::history, list_of(text(), 32),
            "What was tried before and how it ended; oldest first."),
      sparse_field("notices", &Status::notices, list_of(object_of(notice_fields()), kMaxNotices),
                   "Notifications that not all sinks have yet; sent again after a crash."),
      field("closedAt", &Status::closed_at, time(), "When it was closed; absent while it is open."),
      computed_field<Status>(
          "conditions", list_by("type", object_of(condition_fields()), 8),
          "For kubectl wait, `--for=condition=Closed`. Each follows from the phase.",
          condition_entries, set_conditions),
      field("reached", &Status::reached, object_of(reached_fields()),
            "When it first was past each milestone, from which the times since the fault are "
            "counted."),
      field("steps", &Status::steps, list_by("name", object_of(step_fields()), 32),
            "What was done, in the order in which it was begun."),
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
  status["description"] = "What was decided and done. Written by the remediator only.";
  status["x-kubernetes-map-type"] = "atomic";
  return {{"type", "object"},
          {"description",
           "A bad node, the evidence against it, and what was decided and done about it."},
          {"required", {"spec"}},
          {"properties",
           {{"apiVersion", {{"type", "string"}}},
            {"kind", {{"type", "string"}}},
            {"metadata", {{"type", "object"}}},
            {"spec", std::move(spec)},
            {"status", std::move(status)}}}};
}

}  // namespace gpuward::remediator
