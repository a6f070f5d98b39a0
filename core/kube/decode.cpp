#include "core/kube/decode.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "core/runtime/clock.h"
#include "core/runtime/json.h"

namespace gpuward::kube {
namespace {

bool bool_at(const Json& object, std::string_view key) {
  const Json& value = member_at(object, key);
  return value.is_boolean() && value.get<bool>();
}

int int_at(const Json& object, std::string_view key) {
  const Json& value = member_at(object, key);
  if (!value.is_number_integer()) return 0;
  const auto wide = value.get<std::int64_t>();
  return wide < 0 || wide > std::numeric_limits<int>::max() ? 0 : static_cast<int>(wide);
}

Labels labels_at(const Json& meta, std::string_view key) {
  Labels labels;
  const Json& object = member_at(meta, key);
  if (!object.is_object()) return labels;
  for (const auto& [name, value] : object.items()) {
    if (value.is_string()) labels.emplace(name, value.get<std::string>());
  }
  return labels;
}

Taint decode_taint(const Json& taint) {
  return {string_at(taint, "key"), string_at(taint, "value"), string_at(taint, "effect"),
          dump_json(taint)};
}

NodeCondition decode_condition(const Json& condition) {
  return {string_at(condition, "type"),
          string_at(condition, "status"),
          string_at(condition, "reason"),
          string_at(condition, "message"),
          parse_rfc3339(string_at(condition, "lastHeartbeatTime")),
          parse_rfc3339(string_at(condition, "lastTransitionTime"))};
}

// "0" and "0m" request nothing.
bool is_more_than_none(const Json& quantity) {
  if (quantity.is_number()) return quantity.get<double>() > 0;
  return quantity.is_string() &&
         quantity.get_ref<const std::string&>().find_first_of("123456789") != std::string::npos;
}

void add_resources(const Json& containers, std::vector<std::string>& resources) {
  if (!containers.is_array()) return;
  for (const Json& container : containers) {
    for (const char* kind : {"requests", "limits"}) {
      const Json& wanted = member_at(member_at(container, "resources"), kind);
      if (!wanted.is_object()) continue;
      for (const auto& [name, quantity] : wanted.items()) {
        if (is_more_than_none(quantity) && std::ranges::find(resources, name) == resources.end())
          resources.push_back(name);
      }
    }
  }
}

std::vector<ContainerEnd> decode_ends(const Json& statuses) {
  std::vector<ContainerEnd> ends;
  if (!statuses.is_array()) return ends;
  for (const Json& status : statuses) {
    const Json& end = member_at(member_at(status, "state"), "terminated");
    if (!end.is_object()) continue;
    ends.push_back({string_at(status, "name"), int_at(end, "exitCode"), string_at(end, "reason"),
                    string_at(end, "message")});
  }
  return ends;
}

std::string decode_waiting(const Json& statuses) {
  if (!statuses.is_array()) return {};
  for (const Json& status : statuses) {
    auto why = string_at(member_at(member_at(status, "state"), "waiting"), "reason");
    if (!why.empty()) return why;
  }
  return {};
}

bool has_empty_dir(const Json& spec) {
  const Json& volumes = member_at(spec, "volumes");
  return volumes.is_array() && std::ranges::any_of(volumes, [](const Json& volume) {
           return member_at(volume, "emptyDir").is_object();
         });
}

Toleration decode_toleration(const Json& toleration) {
  return {string_at(toleration, "key"), string_at(toleration, "operator"),
          string_at(toleration, "value"), string_at(toleration, "effect")};
}

// Decodes the fields that eviction and deletion of a pod need.
void decode_leaving(const Json& object, Pod& pod) {
  const Json& spec = member_at(object, "spec");
  pod.started = parse_rfc3339(string_at(member_at(object, "status"), "startTime"));
  if (member_at(spec, "terminationGracePeriodSeconds").is_number_integer())
    pod.grace_seconds = int_at(spec, "terminationGracePeriodSeconds");
  pod.priority_class = string_at(spec, "priorityClassName");
  pod.priority = int_at(spec, "priority");
  pod.has_empty_dir = has_empty_dir(spec);
}

OwnerReference decode_owner(const Json& owner) {
  return {string_at(owner, "apiVersion"), string_at(owner, "kind"), string_at(owner, "name"),
          string_at(owner, "uid"), bool_at(owner, "controller")};
}

template <typename T>
std::vector<T> decode_all(const Json& list, T (*decode)(const Json&)) {
  std::vector<T> values;
  if (!list.is_array()) return values;
  values.reserve(list.size());
  for (const Json& item : list) values.push_back(decode(item));
  return values;
}

std::string internal_ip_in(const Json& addresses) {
  if (!addresses.is_array()) return {};
  for (const Json& address : addresses) {
    if (string_at(address, "type") == "InternalIP") return string_at(address, "address");
  }
  return {};
}

std::vector<OwnerReference> decode_owners(const Json& object) {
  return decode_all(member_at(member_at(object, "metadata"), "ownerReferences"), decode_owner);
}

}  // namespace

Result<ObjectMeta> decode_meta(const Json& object) {
  const Json& meta = member_at(object, "metadata");
  ObjectMeta decoded;
  decoded.name = string_at(meta, "name");
  if (decoded.name.empty())
    return fail(ErrorKind::kInternal, "the API server sent an object without metadata.name");
  decoded.ns = string_at(meta, "namespace");
  decoded.uid = string_at(meta, "uid");
  decoded.resource_version = string_at(meta, "resourceVersion");
  decoded.labels = labels_at(meta, "labels");
  decoded.annotations = labels_at(meta, "annotations");
  decoded.created = parse_rfc3339(string_at(meta, "creationTimestamp"));
  decoded.deleting = member_at(meta, "deletionTimestamp").is_string();
  if (decoded.deleting) decoded.ends_at = parse_rfc3339(string_at(meta, "deletionTimestamp"));
  return decoded;
}

Result<Node> decode_node(const Json& object) {
  auto meta = decode_meta(object);
  if (!meta) return std::unexpected(std::move(meta.error()));
  const Json& spec = member_at(object, "spec");
  const Json& status = member_at(object, "status");
  Node node;
  node.meta = std::move(*meta);
  node.unschedulable = bool_at(spec, "unschedulable");
  node.taints = decode_all(member_at(spec, "taints"), decode_taint);
  node.provider_id = string_at(spec, "providerID");
  node.boot_id = string_at(member_at(status, "nodeInfo"), "bootID");
  node.system_uuid = string_at(member_at(status, "nodeInfo"), "systemUUID");
  const Json& capacity = member_at(status, "capacity");
  if (capacity.is_object()) {
    for (const auto& [resource, amount] : capacity.items()) node.resources.push_back(resource);
  }
  node.conditions = decode_all(member_at(status, "conditions"), decode_condition);
  node.owners = decode_owners(object);
  node.internal_ip = internal_ip_in(member_at(status, "addresses"));
  return node;
}

Result<Node> parse_node(std::string_view json) {
  const auto object = parse_json(json);
  if (!object) return std::unexpected(object.error());
  return decode_node(*object);
}

Result<Pod> decode_pod(const Json& object) {
  auto meta = decode_meta(object);
  if (!meta) return std::unexpected(std::move(meta.error()));
  Pod pod;
  pod.meta = std::move(*meta);
  pod.node_name = string_at(member_at(object, "spec"), "nodeName");
  pod.phase = string_at(member_at(object, "status"), "phase");
  pod.owners = decode_owners(object);
  const Json& spec = member_at(object, "spec");
  add_resources(member_at(spec, "containers"), pod.resources);
  add_resources(member_at(spec, "initContainers"), pod.resources);
  pod.has_resource_claims = !member_at(spec, "resourceClaims").empty();
  pod.runtime_class = string_at(spec, "runtimeClassName");
  pod.node_selector = labels_at(spec, "nodeSelector");
  const Json& statuses = member_at(member_at(object, "status"), "containerStatuses");
  pod.ended = decode_ends(statuses);
  pod.waiting = decode_waiting(statuses);
  decode_leaving(object, pod);
  pod.tolerations = decode_all(member_at(spec, "tolerations"), decode_toleration);
  return pod;
}

Result<Job> decode_job(const Json& object) {
  auto meta = decode_meta(object);
  if (!meta) return std::unexpected(std::move(meta.error()));
  Job job;
  job.meta = std::move(*meta);
  for (const NodeCondition& condition :
       decode_all(member_at(member_at(object, "status"), "conditions"), decode_condition)) {
    if (condition.status != "True") continue;
    job.is_complete |= condition.type == "Complete";
    if (condition.type != "Failed") continue;
    job.is_failed = true;
    job.failure = condition.reason;
  }
  return job;
}

Result<ConfigMap> decode_config_map(const Json& object) {
  auto meta = decode_meta(object);
  if (!meta) return std::unexpected(std::move(meta.error()));
  return ConfigMap{std::move(*meta), labels_at(object, "data")};
}

Result<Lease> decode_lease(const Json& object) {
  auto meta = decode_meta(object);
  if (!meta) return std::unexpected(std::move(meta.error()));
  const Json& spec = member_at(object, "spec");
  Lease lease;
  lease.meta = std::move(*meta);
  lease.holder = string_at(spec, "holderIdentity");
  lease.duration_seconds = int_at(spec, "leaseDurationSeconds");
  lease.acquire_time = string_at(spec, "acquireTime");
  lease.renew_time = string_at(spec, "renewTime");
  lease.transitions = int_at(spec, "leaseTransitions");
  return lease;
}

Result<CustomObject> decode_custom(Json object) {
  auto meta = decode_meta(object);
  if (!meta) return std::unexpected(std::move(meta.error()));
  return CustomObject{std::move(*meta), std::make_shared<const Json>(std::move(object))};
}

}  // namespace gpuward::kube
