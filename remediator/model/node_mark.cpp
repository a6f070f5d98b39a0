#include "remediator/model/node_mark.h"

#include "core/runtime/json.h"

namespace gpuward::remediator {
namespace {

bool flag_at(const Json& object, std::string_view key) {
  const Json& value = member_at(object, key);
  return value.is_boolean() && value.get<bool>();
}

}  // namespace

std::string to_annotation(const OwnerAnnotation& mark) {
  Json json = {{"name", mark.name},
               {"owner", mark.owner},
               {"why", mark.why},
               {"severity", std::string(to_string(mark.severity))},
               {"taint", mark.taint},
               {"cordon", mark.cordon},
               {"preExistingCordon", mark.pre_existing_cordon},
               {"since", mark.since}};
  if (mark.konduktor) json["konduktorTaint"] = true;
  return dump_json(json);
}

std::optional<OwnerAnnotation> owner_annotation_on(const kube::Node& node) {
  const auto found = node.meta.annotations.find(std::string(kAnnotation));
  if (found == node.meta.annotations.end()) return std::nullopt;
  const auto json = parse_json(found->second, {.max_bytes = 64U << 10U, .max_depth = 8});
  if (!json || !json->is_object() || string_at(*json, "owner") != kOwner) return std::nullopt;
  OwnerAnnotation mark;
  mark.name = string_at(*json, "name");
  mark.why = string_at(*json, "why");
  mark.severity = parse_severity(string_at(*json, "severity")).value_or(Severity::kNone);
  mark.taint = flag_at(*json, "taint");
  mark.cordon = flag_at(*json, "cordon");
  mark.pre_existing_cordon = flag_at(*json, "preExistingCordon");
  mark.since = string_at(*json, "since");
  mark.konduktor = flag_at(*json, "konduktorTaint");
  if (mark.name.empty()) return std::nullopt;
  return mark;
}

std::optional<std::string> our_taint_on(const kube::Node& node) {
  for (const kube::Taint& taint : node.taints) {
    if (taint.key == kTaintKey && taint.effect == kTaintEffect) return taint.value;
  }
  return std::nullopt;
}

}  // namespace gpuward::remediator
