#include "remediator/records/remediation_json.h"

#include <algorithm>
#include <utility>

#include "core/kube/decode.h"
#include "core/runtime/clock.h"
#include "core/runtime/json.h"
#include "remediator/model/remediation_name.h"
#include "remediator/records/notice_json.h"

namespace gpuward::remediator {
namespace {

constexpr std::string_view kApiVersion = "gpuward.dev/v1alpha1";

std::optional<WallTime> time_at(const Json& object, std::string_view key) {
  const Json& value = member_at(object, key);
  if (!value.is_string()) return std::nullopt;
  return parse_rfc3339(value.get_ref<const std::string&>());
}

// With all the digits that a source has said: nine where three are not enough.
std::string as_said(WallTime time) {
  const auto second = std::chrono::floor<std::chrono::seconds>(time);
  const auto nanoseconds = std::chrono::nanoseconds(time - second).count();
  if (nanoseconds % 1'000'000 == 0) return to_rfc3339_ms(time);
  const std::string text = to_rfc3339(time);
  const std::string digits = std::to_string(1'000'000'000 + nanoseconds).substr(1);
  return text.substr(0, text.size() - 1) + '.' + digits + 'Z';
}

std::optional<bool> flag_at(const Json& object, std::string_view key) {
  const Json& value = member_at(object, key);
  if (!value.is_boolean()) return std::nullopt;
  return value.get<bool>();
}

AlertEvidence decode_evidence(const Json& json) {
  AlertEvidence alert;
  alert.alertname = string_at(json, "alertname");
  alert.fingerprint = string_at(json, "fingerprint");
  alert.severity = parse_severity(string_at(json, "severity")).value_or(Severity::kNone);
  alert.starts_at = time_at(json, "startsAt").value_or(WallTime());
  alert.first_received = time_at(json, "firstReceived").value_or(WallTime());
  alert.ended_at = time_at(json, "endedAt");
  alert.foreign = flag_at(json, "foreign").value_or(false);
  alert.error_class = string_at(json, "errorClass");
  alert.contested = flag_at(json, "contested").value_or(false);
  return alert;
}

Json encode_evidence(const AlertEvidence& alert) {
  Json json = {{"alertname", alert.alertname},
               {"fingerprint", alert.fingerprint},
               {"severity", std::string(to_string(alert.severity))},
               {"startsAt", as_said(alert.starts_at)},
               {"firstReceived", to_rfc3339_ms(alert.first_received)}};
  if (alert.contested) json["contested"] = true;
  if (alert.foreign) json["foreign"] = true;
  if (!alert.error_class.empty()) json["errorClass"] = alert.error_class;
  if (alert.ended_at) json["endedAt"] = as_said(*alert.ended_at);
  return json;
}

Json encode_evidence_list(const std::vector<AlertEvidence>& alerts) {
  Json list = Json::array();
  for (const AlertEvidence& alert : alerts) list.push_back(encode_evidence(alert));
  return list;
}

struct SeverityAt {
  Severity severity;
  WallTime at;
};

std::optional<SeverityAt> severity_at(const Json& json) {
  const auto severity = parse_severity(string_at(json, "severity"));
  const auto at = time_at(json, "at");
  if (!severity || !at) return std::nullopt;
  return SeverityAt{*severity, *at};
}

Json encode_severity_at(Severity severity, WallTime at) {
  return {{"severity", std::string(to_string(severity))}, {"at", as_said(at)}};
}

Json encode_spec_evidence(const Remediation& remediation) {
  Json spec = {{"severity", std::string(to_string(remediation.severity))},
               {"alerts", encode_evidence_list(remediation.alerts)}};
  if (remediation.dropped)
    spec["dropped"] = encode_severity_at(remediation.dropped->severity, remediation.dropped->at);
  return spec;
}

std::optional<StepRecord> decode_step(const Json& json) {
  const auto step = parse_step(string_at(json, "name"));
  if (!step) return std::nullopt;
  StepRecord record;
  record.step = *step;
  record.result = parse_step_result(string_at(json, "result")).value_or(StepResult::kIntended);
  record.intent_at = time_at(json, "intentAt");
  record.finished_at = time_at(json, "finishedAt");
  const Json& attempts = member_at(json, "attempts");
  if (attempts.is_number_integer()) record.attempts = attempts.get<int>();
  record.message = string_at(json, "message");
  record.pool = string_at(json, "pool");
  record.severity = parse_severity(string_at(json, "severity")).value_or(Severity::kNone);
  const Json& facts = member_at(json, "facts");
  if (facts.is_object()) {
    for (const auto& [key, value] : facts.items()) {
      if (value.is_string()) record.facts[key] = value.get<std::string>();
    }
  }
  return record;
}

Json encode_step(const StepRecord& record) {
  Json json = {{"name", std::string(to_string(record.step))},
               {"result", std::string(to_string(record.result))},
               {"severity", std::string(to_string(record.severity))},
               {"attempts", record.attempts},
               {"message", record.message}};
  if (!record.pool.empty()) json["pool"] = record.pool;
  if (!record.facts.empty()) json["facts"] = record.facts;
  if (record.intent_at) json["intentAt"] = to_rfc3339_ms(*record.intent_at);
  if (record.finished_at) json["finishedAt"] = to_rfc3339_ms(*record.finished_at);
  return json;
}

std::vector<std::string> texts_at(const Json& object, std::string_view key) {
  std::vector<std::string> texts;
  const Json& list = member_at(object, key);
  for (std::size_t i = 0; list.is_array() && i < list.size(); ++i) {
    if (list[i].is_string()) texts.push_back(list[i].get<std::string>());
  }
  return texts;
}

std::optional<ApprovalRecord> decode_approval(const Json& json) {
  const auto step = parse_step(string_at(json, "step"));
  const auto requested_at = time_at(json, "requestedAt");
  if (!step || !requested_at) return std::nullopt;
  return ApprovalRecord{.step = *step,
                        .token = string_at(json, "token"),
                        .requested_at = *requested_at,
                        .by = string_at(json, "by"),
                        .seen_at = time_at(json, "seenAt")};
}

Json encode_approval(const ApprovalRecord& approval) {
  Json json = {{"step", std::string(to_string(approval.step))},
               {"token", approval.token},
               {"requestedAt", to_rfc3339_ms(approval.requested_at)},
               {"by", approval.by}};
  if (approval.seen_at) json["seenAt"] = to_rfc3339_ms(*approval.seen_at);
  return json;
}

std::map<Milestone, WallTime> decode_reached(const Json& json) {
  std::map<Milestone, WallTime> reached;
  for (const Milestone milestone : kAllMilestones) {
    if (const auto at = time_at(json, to_string(milestone))) reached[milestone] = *at;
  }
  return reached;
}

Json encode_reached(const std::map<Milestone, WallTime>& reached) {
  Json json = Json::object();
  for (const auto& [milestone, at] : reached)
    json[std::string(to_string(milestone))] = to_rfc3339_ms(at);
  return json;
}

std::map<ConditionType, Condition> decode_conditions(const Json& list) {
  std::map<ConditionType, Condition> conditions;
  for (std::size_t i = 0; list.is_array() && i < list.size(); ++i) {
    const auto since = time_at(list[i], "lastTransitionTime");
    for (const ConditionType type : kAllConditions) {
      if (!since || string_at(list[i], "type") != to_string(type)) continue;
      conditions[type] = {.holds = string_at(list[i], "status") == "True", .since = *since};
    }
  }
  return conditions;
}

Json encode_conditions(const RemediationStatus& status) {
  Json list = Json::array();
  for (const auto& [type, condition] : status.conditions) {
    list.push_back({{"type", std::string(to_string(type))},
                    {"status", condition.holds ? "True" : "False"},
                    {"reason", std::string(to_string(status.phase))},
                    {"message", status.message},
                    {"lastTransitionTime", to_rfc3339(condition.since)}});
  }
  return list;
}

OperatorRequest wish_of(const kube::Labels& annotations) {
  const auto text = [&](std::string_view key) {
    const auto found = annotations.find(std::string(key));
    return found == annotations.end() ? std::string() : found->second;
  };
  return {.cancel = text(kCancelAnnotation) == "true",
          // Whatever else somebody has written there, "yes" or "now", was meant to stop us.
          .pause = !text(kPauseAnnotation).empty() && text(kPauseAnnotation) != "false",
          .machine_replaced = text(kMachineReplacedAnnotation) == "true",
          .approved_token = text(kApproveAnnotation),
          .approved_by = text(kApprovedByAnnotation)};
}

RemediationStatus decode_status(const Json& json) {
  RemediationStatus status;
  status.phase = parse_phase(string_at(json, "phase")).value_or(Phase::kPending);
  status.mode = parse_mode(string_at(json, "mode")).value_or(Mode::kObserve);
  status.rule = string_at(json, "rule");
  status.message = string_at(json, "message");
  status.pre_existing_cordon = flag_at(json, "preExistingCordon");
  status.kernel_severity = parse_severity(string_at(json, "kernelSeverity"));
  status.error_class = string_at(json, "errorClass");
  status.gpus = texts_at(json, "gpus");
  status.escalated_to = parse_severity(string_at(json, "escalatedTo"));
  if (const auto cleared = severity_at(member_at(json, "cleared")))
    status.cleared = {.severity = cleared->severity, .at = cleared->at};
  status.notified_phase = parse_phase(string_at(json, "toldPhase"));
  if (flag_at(json, "toldWaiting") == true) status.notified_phase = Phase::kWaiting;
  status.approval = decode_approval(member_at(json, "approval"));
  status.closed_at = time_at(json, "closedAt");
  status.reached = decode_reached(member_at(json, "reached"));
  status.conditions = decode_conditions(member_at(json, "conditions"));
  status.reasons = texts_at(json, "reasons");
  status.history = texts_at(json, "history");
  status.notices = decode_notices(member_at(json, "notices"));
  const Json& steps = member_at(json, "steps");
  for (std::size_t i = 0; steps.is_array() && i < steps.size(); ++i) {
    if (auto step = decode_step(steps[i])) status.steps.push_back(std::move(*step));
  }
  return status;
}

Json encode_status(const RemediationStatus& status) {
  Json steps = Json::array();
  for (const StepRecord& record : status.steps) steps.push_back(encode_step(record));
  Json json = {{"phase", std::string(to_string(status.phase))},
               {"mode", std::string(to_string(status.mode))},
               {"rule", status.rule},
               {"message", status.message},
               {"reasons", status.reasons},
               {"steps", std::move(steps)},
               {"gpus", status.gpus},
               {"history", status.history},
               {"reached", encode_reached(status.reached)},
               {"conditions", encode_conditions(status)}};
  if (status.pre_existing_cordon) json["preExistingCordon"] = *status.pre_existing_cordon;
  if (status.kernel_severity)
    json["kernelSeverity"] = std::string(to_string(*status.kernel_severity));
  if (!status.error_class.empty()) json["errorClass"] = status.error_class;
  if (status.escalated_to) json["escalatedTo"] = std::string(to_string(*status.escalated_to));
  if (status.cleared)
    json["cleared"] = encode_severity_at(status.cleared->severity, status.cleared->at);
  // The schema of the version before has no other phases: it refuses the whole status for one.
  if (status.notified_phase == Phase::kWaiting) {
    json["toldWaiting"] = true;
  } else if (status.notified_phase) {
    json["toldPhase"] = std::string(to_string(*status.notified_phase));
  }
  if (status.approval) json["approval"] = encode_approval(*status.approval);
  if (!status.notices.empty()) json["notices"] = encode_notices(status.notices);
  if (status.closed_at) json["closedAt"] = to_rfc3339_ms(*status.closed_at);
  return json;
}

Result<Remediation> decode(const kube::ObjectMeta& meta, const Json& root) {
  Remediation remediation;
  remediation.name = meta.name;
  remediation.uid = meta.uid;
  remediation.resource_version = meta.resource_version;
  remediation.created = meta.created;
  remediation.deleting = meta.deleting;
  remediation.finalizers = texts_at(member_at(root, "metadata"), "finalizers");
  remediation.wish = wish_of(meta.annotations);
  const Json& spec = member_at(root, "spec");
  remediation.node = string_at(spec, "nodeName");
  remediation.node_uid = string_at(spec, "nodeUID");
  if (remediation.node.empty() || remediation.node_uid.empty()) {
    return fail(ErrorKind::kInvalid, "remediation " + meta.name + ": spec names no node");
  }
  remediation.boot_id = string_at(spec, "bootID");
  remediation.instance_id = string_at(spec, "instanceID");
  remediation.system_uuid = string_at(spec, "systemUUID");
  remediation.severity = parse_severity(string_at(spec, "severity")).value_or(Severity::kNone);
  const Json& alerts = member_at(spec, "alerts");
  for (std::size_t i = 0; alerts.is_array() && i < alerts.size(); ++i) {
    remediation.alerts.push_back(decode_evidence(alerts[i]));
  }
  if (const auto dropped = severity_at(member_at(spec, "dropped")))
    remediation.dropped = {.severity = dropped->severity, .at = dropped->at};
  remediation.status = decode_status(member_at(root, "status"));
  return remediation;
}

}  // namespace

const kube::ResourceType& remediation_type() {
  static const kube::ResourceType kType{"gpuward.dev", "v1alpha1", "remediations", ""};
  return kType;
}

std::string remediation_collection() { return "/apis/gpuward.dev/v1alpha1/remediations"; }

Result<Remediation> to_remediation(const kube::CustomObject& object) {
  return decode(object.meta, *object.json);
}

Result<Remediation> read_remediation(const Json& object) {
  const auto meta = kube::decode_meta(object);
  if (!meta) return std::unexpected(meta.error());
  return decode(*meta, object);
}

Result<Remediation> parse_remediation(std::string_view json) {
  const auto object = parse_json(json);
  if (!object) return std::unexpected(object.error());
  return read_remediation(*object);
}

std::string create_body(const Remediation& remediation) {
  Json spec = encode_spec_evidence(remediation);
  spec["nodeName"] = remediation.node;
  spec["nodeUID"] = remediation.node_uid;
  spec["bootID"] = remediation.boot_id;
  spec["instanceID"] = remediation.instance_id;
  if (!remediation.system_uuid.empty()) spec["systemUUID"] = remediation.system_uuid;
  return dump_json({{"apiVersion", std::string(kApiVersion)},
                    {"kind", "Remediation"},
                    {"metadata",
                     {{"name", remediation.name},
                      {"finalizers", Json::array({std::string(kFinalizer)})},
                      {"labels",
                       {{std::string(kNodeLabel), to_label_value(remediation.node)},
                        {std::string(kNodeUidLabel), to_label_value(remediation.node_uid)}}}}},
                    {"spec", std::move(spec)}});
}

std::string evidence_patch(const Remediation& remediation) {
  return dump_json({{"metadata", {{"resourceVersion", remediation.resource_version}}},
                    {"spec", encode_spec_evidence(remediation)}});
}

std::string release_patch(const Remediation& remediation) {
  Json left = Json::array();
  for (const std::string& finalizer : remediation.finalizers) {
    if (finalizer != kFinalizer) left.push_back(finalizer);
  }
  return dump_json(
      {{"metadata",
        {{"resourceVersion", remediation.resource_version}, {"finalizers", std::move(left)}}}});
}

StatusWrite status_write(const Remediation& remediation) {
  const Json status = encode_status(remediation.status);
  std::string body =
      dump_json({{"apiVersion", std::string(kApiVersion)},
                 {"kind", "Remediation"},
                 {"metadata",
                  {{"name", remediation.name}, {"resourceVersion", remediation.resource_version}}},
                 {"status", status}});
  return {.body = std::move(body), .kept = decode_status(status)};
}

}  // namespace gpuward::remediator
