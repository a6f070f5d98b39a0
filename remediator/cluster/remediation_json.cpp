#include "remediator/cluster/remediation_json.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "core/kube/decode.h"
#include "core/runtime/json.h"
#include "remediator/cluster/remediation_fields.h"
#include "remediator/model/remediation_name.h"

namespace gpuward::remediator {
namespace {

constexpr std::string_view kApiVersion = "gpuward.dev/v1alpha1";

// Renamed rules of `status.rule`: {as versions before 0.1.0 wrote it, now}. A record keeps the old
// name until the next decision about it.
constexpr auto kRenamedRules = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"drain_buffer", "min_drain_interval"},
    {"guard.human", "guard.manual-change"},
    {"guard.marks", "guard.ownership"},
    {"guard.marks-first", "guard.taint-first"},
    {"way_back", "recovery"},
});

OperatorRequest wish_of(const kube::Labels& annotations) {
  const auto text = [&](std::string_view key) {
    const auto found = annotations.find(std::string(key));
    return found == annotations.end() ? std::string() : found->second;
  };
  return {.cancel = text(kCancelAnnotation) == "true",
          // Any other value, such as "yes" or "now", was meant to stop gpuward.
          .pause = !text(kPauseAnnotation).empty() && text(kPauseAnnotation) != "false",
          .machine_replaced = text(kMachineReplacedAnnotation) == "true",
          .approved_token = text(kApproveAnnotation),
          .approved_by = text(kApprovedByAnnotation),
          .last_command = text(kLastCommandAnnotation)};
}

RemediationStatus decode_status(const Json& json) {
  RemediationStatus status;
  read_fields(json, status_fields(), status);
  status.rule = current_rule(status.rule);
  return status;
}

Result<Remediation> decode(const kube::ObjectMeta& meta, const Json& root) {
  Remediation remediation;
  remediation.name = meta.name;
  remediation.uid = meta.uid;
  remediation.resource_version = meta.resource_version;
  remediation.created = meta.created;
  remediation.deleting = meta.deleting;
  const Json& finalizers = member_at(member_at(root, "metadata"), "finalizers");
  remediation.finalizers = list_of(text()).read(finalizers).value_or(std::vector<std::string>());
  remediation.wish = wish_of(meta.annotations);
  const Json& spec = member_at(root, "spec");
  read_fields(spec, identity_fields(), remediation);
  if (remediation.node.empty() || remediation.node_uid.empty()) {
    return fail(ErrorKind::kInvalid,
                "remediation " + meta.name + ": spec.nodeName or spec.nodeUID is missing");
  }
  read_fields(spec, evidence_fields(), remediation);
  remediation.status = decode_status(member_at(root, "status"));
  return remediation;
}

}  // namespace

std::string_view current_rule(std::string_view rule) {
  const auto* const found =
      std::ranges::find(kRenamedRules, rule, [](const auto& row) { return row.first; });
  return found == kRenamedRules.end() ? rule : found->second;
}

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
  Json spec = write_fields(remediation, identity_fields());
  spec.update(write_fields(remediation, evidence_fields()));
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
                    {"spec", write_fields(remediation, evidence_fields())}});
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
  const Json status = write_fields(remediation.status, status_fields());
  std::string body =
      dump_json({{"apiVersion", std::string(kApiVersion)},
                 {"kind", "Remediation"},
                 {"metadata",
                  {{"name", remediation.name}, {"resourceVersion", remediation.resource_version}}},
                 {"status", status}});
  return {.body = std::move(body), .kept = decode_status(status)};
}

}  // namespace gpuward::remediator
