#include "tests/fakes/kube/validation.h"

#include <algorithm>
#include <array>
#include <regex>
#include <set>
#include <utility>

#include "tests/fakes/kube/definitions.h"
#include "tests/fakes/kube/schema.h"

namespace gpuward::fakes {
namespace {

using Causes = std::vector<Cause>;

// Regular expressions and texts of apimachinery/pkg/util/validation.
bool is_subdomain(const std::string& text) {
  static const std::regex kPattern(
      R"([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)");
  return std::regex_match(text, kPattern);
}

// A label's value, or the name part of a key if it may not be empty.
bool is_label_value(const std::string& text) {
  static const std::regex kPattern(R"((([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?)");
  return std::regex_match(text, kPattern);
}

Cause invalid_value(const std::string& field, const std::string& value, const std::string& why) {
  return {"FieldValueInvalid", "Invalid value: " + dump_json(value) + ": " + why, field};
}

Cause required(const std::string& field, const std::string& why = {}) {
  return {"FieldValueRequired", why.empty() ? "Required value" : "Required value: " + why, field};
}

void check_name(const std::string& name, const std::string& field, Causes& causes) {
  if (name.size() > 253) {
    causes.push_back(invalid_value(field, name, "must be no more than 253 characters"));
  }
  if (is_subdomain(name)) return;
  causes.push_back(invalid_value(
      field, name,
      "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
      "'.', "
      "and must start and end with an alphanumeric character (e.g. 'example.com', regex used for "
      "validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"));
}

bool is_qualified_name(const std::string& key) {
  const auto slash = key.find('/');
  const std::string name = slash == std::string::npos ? key : key.substr(slash + 1);
  if (name.empty() || name.size() > 63 || !is_label_value(name)) return false;
  return slash == std::string::npos || is_subdomain(key.substr(0, slash));
}

void check_key(const std::string& key, const std::string& field, Causes& causes) {
  if (is_qualified_name(key)) return;
  causes.push_back(invalid_value(
      field, key,
      "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end "
      "with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
      "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"));
}

void check_label_value(const std::string& value, const std::string& field, Causes& causes) {
  if (value.size() > 63) {
    causes.push_back({"FieldValueTooLong", "Too long: may not be more than 63 bytes", field});
    return;
  }
  if (is_label_value(value)) return;
  causes.push_back(invalid_value(
      field, value,
      "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
      "'.', "
      "and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or "
      "'12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"));
}

void check_metadata(const Json& metadata, Causes& causes) {
  const std::string name = string_at(metadata, "name");
  if (name.empty()) {
    causes.push_back(required("metadata.name", "name or generateName is required"));
  } else {
    check_name(name, "metadata.name", causes);
  }
  for (const auto& [key, value] : member_at(metadata, "labels").items()) {
    check_key(key, "metadata.labels", causes);
    check_label_value(value.get<std::string>(), "metadata.labels", causes);
  }
  std::size_t bytes = 0;
  for (const auto& [key, value] : member_at(metadata, "annotations").items()) {
    check_key(key, "metadata.annotations", causes);
    bytes += key.size() + value.get<std::string>().size();
  }
  if (bytes > 256U << 10U) {
    causes.push_back({"FieldValueTooLong", "Too long: may not be more than 262144 bytes",
                      "metadata.annotations"});
  }
}

void check_taint(const Json& taint, const std::string& field, Causes& causes) {
  const std::string key = string_at(taint, "key");
  if (key.empty()) {
    causes.push_back(invalid_value(field + ".key", key, "name part must be non-empty"));
  }
  check_key(key, field + ".key", causes);
  check_label_value(string_at(taint, "value"), field + ".value", causes);
  const std::string effect = string_at(taint, "effect");
  constexpr std::array kEffects{"NoSchedule", "PreferNoSchedule", "NoExecute"};
  if (effect.empty()) {
    causes.push_back(required(field + ".effect"));
  } else if (std::ranges::find(kEffects, effect) == kEffects.end()) {
    causes.push_back({"FieldValueNotSupported",
                      "Unsupported value: " + dump_json(effect) +
                          ": supported values: \"NoSchedule\", \"PreferNoSchedule\", \"NoExecute\"",
                      field + ".effect"});
  }
}

std::string as_go_prints(const Json& taint) {
  const auto field = [&taint](const char* key) { return dump_json(string_at(taint, key)); };
  return "{\"Key\":" + field("key") + ",\"Value\":" + field("value") +
         ",\"Effect\":" + field("effect") + ",\"TimeAdded\":null}";
}

void check_node(const Json& node, Causes& causes) {
  std::set<std::pair<std::string, std::string>> seen;
  const Json& taints = member_at(member_at(node, "spec"), "taints");
  for (std::size_t i = 0; i < taints.size(); ++i) {
    const std::string field = "metadata.taints[" + std::to_string(i) + "]";
    check_taint(taints[i], field, causes);
    if (seen.emplace(string_at(taints[i], "key"), string_at(taints[i], "effect")).second) continue;
    causes.push_back({"FieldValueDuplicate",
                      "Duplicate value: " + as_go_prints(taints[i]) +
                          ": taints must be unique by key and effect pair",
                      field});
  }
}

void check_pod(const Json& pod, Causes& causes) {
  const Json& containers = member_at(member_at(pod, "spec"), "containers");
  if (!containers.is_array() || containers.empty()) causes.push_back(required("spec.containers"));
  for (std::size_t i = 0; i < containers.size(); ++i) {
    const std::string field = "spec.containers[" + std::to_string(i) + "]";
    if (string_at(containers[i], "name").empty()) causes.push_back(required(field + ".name"));
    if (string_at(containers[i], "image").empty()) causes.push_back(required(field + ".image"));
  }
}

// An event about a cluster-scoped object lives in `default`.
void check_event(const Json& event, Causes& causes) {
  const std::string about = string_at(member_at(event, "involvedObject"), "namespace");
  const std::string ns = string_at(member_at(event, "metadata"), "namespace");
  const bool good = about.empty() ? ns == "default" || ns == "kube-system" : about == ns;
  if (!good) {
    causes.push_back(
        invalid_value("involvedObject.namespace", about, "does not match event.namespace"));
  }
}

void check_lease(const Json& lease, Causes& causes) {
  const Json& spec = member_at(lease, "spec");
  const Json& seconds = member_at(spec, "leaseDurationSeconds");
  if (seconds.is_number() && seconds.get<std::int64_t>() <= 0) {
    causes.push_back({"FieldValueInvalid",
                      "Invalid value: " + dump_json(seconds) + ": must be greater than 0",
                      "spec.leaseDurationSeconds"});
  }
  const Json& transitions = member_at(spec, "leaseTransitions");
  if (transitions.is_number() && transitions.get<std::int64_t>() < 0) {
    causes.push_back(
        {"FieldValueInvalid",
         "Invalid value: " + dump_json(transitions) + ": must be greater than or equal to 0",
         "spec.leaseTransitions"});
  }
}

// Core validation counts only the values, not their keys.
void check_config_map(const Json& config_map, Causes& causes) {
  constexpr std::size_t kMaxBytes = 1U << 20U;
  std::size_t bytes = 0;
  for (const Json& value : member_at(config_map, "data"))
    bytes += value.get_ref<const std::string&>().size();
  if (bytes > kMaxBytes) {
    causes.push_back({"FieldValueTooLong", "Too long: may not be more than 1048576 bytes", "[]"});
  }
}

// The types of the fields that gpuward writes, as a schema; other fields are not checked.
const Json& types_of(const Resource& resource) {
  static const Json kNode = parse_json(R"({"properties":{"spec":{"properties":{
      "unschedulable":{"type":"boolean"},"taints":{"type":"array","items":{"type":"object","properties":{
      "key":{"type":"string"},"value":{"type":"string"},"effect":{"type":"string"}}}}}},
      "status":{"properties":{"conditions":{"type":"array","items":{"type":"object","properties":{
      "type":{"type":"string"},"status":{"type":"string"},"message":{"type":"string"},
      "lastHeartbeatTime":{"type":"string","nullable":true,"format":"date-time"},
      "lastTransitionTime":{"type":"string","nullable":true,"format":"date-time"}}}}}}}})")
                                .value();
  static const Json kLease = parse_json(R"({"properties":{"spec":{"properties":{
      "holderIdentity":{"type":"string"},"leaseDurationSeconds":{"type":"integer"},
      "leaseTransitions":{"type":"integer"},
      "acquireTime":{"type":"string","nullable":true,"format":"date-time"},
      "renewTime":{"type":"string","nullable":true,"format":"date-time"}}}}})")
                                 .value();
  static const Json kConfigMap = parse_json(R"({"properties":{"data":{"type":"object",
      "nullable":true,"additionalProperties":{"type":"string"}}}})")
                                     .value();
  static const Json kNothing = nullptr;
  if (resource.plural == "nodes") return kNode;
  if (resource.plural == "configmaps") return kConfigMap;
  return resource.plural == "leases" ? kLease : kNothing;
}

Check decode_error(const Resource& resource, const std::string& why) {
  return bad_request(resource.kind + " in version \"" + resource.version +
                     "\" cannot be handled as a " + resource.kind + ": " + why);
}

}  // namespace

Check check_types(const Resource& resource, const Json& object) {
  const Json& metadata = member_at(object, "metadata");
  if (!metadata.is_object() && !metadata.is_null()) {
    return decode_error(resource, "json: cannot unmarshal into Go struct field .metadata");
  }
  for (const char* map : {"labels", "annotations"}) {
    const Json& values = member_at(metadata, map);
    const bool good = values.is_null() ||
                      (values.is_object() &&
                       std::ranges::all_of(values, [](const Json& v) { return v.is_string(); }));
    if (!good) {
      return decode_error(resource, std::string("json: cannot unmarshal into Go struct field "
                                                "ObjectMeta.metadata.") +
                                        map + " of type string");
    }
  }
  const auto causes = validate(object, types_of(resource), "");
  if (causes.empty()) return {};
  return decode_error(resource, causes.front().field + ": " + causes.front().message);
}

std::vector<Cause> faults_of(const Resource& resource, const Json& object) {
  Causes causes;
  check_metadata(member_at(object, "metadata"), causes);
  if (resource.custom) {
    const auto found = validate(object, resource.schema, "");
    causes.insert(causes.end(), found.begin(), found.end());
    return causes;
  }
  if (resource.plural == "nodes") check_node(object, causes);
  if (resource.plural == "pods") check_pod(object, causes);
  if (resource.plural == "events") check_event(object, causes);
  if (resource.plural == "leases") check_lease(object, causes);
  if (resource.plural == "configmaps") check_config_map(object, causes);
  if (resource.plural == "customresourcedefinitions") {
    const auto found = faults_of_definition(object);
    causes.insert(causes.end(), found.begin(), found.end());
  }
  return causes;
}

std::vector<Cause> faults_of_update(const Resource& resource, const Json& before,
                                    const Json& object) {
  Causes causes = faults_of(resource, object);
  const auto node_of = [](const Json& pod) {
    return string_at(member_at(pod, "spec"), "nodeName");
  };
  if (resource.plural == "pods" && node_of(before) != node_of(object)) {
    causes.push_back({"FieldValueForbidden",
                      "Forbidden: pod updates may not change fields other than "
                      "`spec.containers[*].image`, `spec.tolerations` (only additions to existing "
                      "tolerations) and a few others",
                      "spec"});
  }
  return causes;
}

}  // namespace gpuward::fakes
