#include "tests/fakes/kube/normal_form.h"

#include <initializer_list>

namespace gpuward::fakes {
namespace {

bool is_empty(const Json& value) {
  return value.is_null() || (value.is_structured() && value.empty()) || value == "" ||
         value == false;
}

void drop_empty(Json& object, std::initializer_list<const char*> keys) {
  for (const char* key : keys) {
    if (object.contains(key) && is_empty(object[key])) object.erase(key);
  }
}

void fill(Json& object, const char* key, const Json& value) {
  if (!object.contains(key)) object[key] = value;
}

Json& object_at(Json& parent, const char* key) {
  Json& member = parent[key];
  if (!member.is_object()) member = Json::object();
  return member;
}

void write_conditions(Json& status, std::initializer_list<const char*> times) {
  if (!status.contains("conditions")) return;
  for (Json& condition : status["conditions"]) {
    for (const char* time : times) fill(condition, time, nullptr);
  }
}

void write_node(Json& node) {
  Json& spec = object_at(node, "spec");
  drop_empty(spec, {"taints", "unschedulable", "providerID", "podCIDR"});
  Json& status = object_at(node, "status");
  fill(object_at(object_at(status, "daemonEndpoints"), "kubeletEndpoint"), "Port", 0);
  for (const char* key :
       {"architecture", "bootID", "containerRuntimeVersion", "kernelVersion", "kubeProxyVersion",
        "kubeletVersion", "machineID", "operatingSystem", "osImage", "systemUUID"}) {
    fill(object_at(status, "nodeInfo"), key, "");
  }
  drop_empty(status, {"conditions", "addresses"});
  write_conditions(status, {"lastHeartbeatTime", "lastTransitionTime"});
}

void write_event(Json& event) {
  for (const char* key : {"eventTime", "firstTimestamp", "lastTimestamp"})
    fill(event, key, nullptr);
  for (const char* key : {"reportingComponent", "reportingInstance"}) fill(event, key, "");
  (void)object_at(event, "source");
}

}  // namespace

void write_normally(const Resource& resource, Json& object) {
  drop_empty(object["metadata"], {"labels", "annotations", "finalizers", "ownerReferences"});
  if (resource.plural == "nodes") write_node(object);
  if (resource.plural == "events") write_event(object);
  if (resource.plural == "leases") (void)object_at(object, "spec");
  if (resource.plural == "pods")
    write_conditions(object_at(object, "status"), {"lastProbeTime", "lastTransitionTime"});
}

void taint_unready_node(Json& node) {
  for (const Json& condition : member_at(member_at(node, "status"), "conditions")) {
    if (string_at(condition, "type") == "Ready" && string_at(condition, "status") == "True") return;
  }
  Json& taints = object_at(node, "spec")["taints"];
  if (!taints.is_array()) taints = Json::array();
  for (const Json& taint : taints) {
    if (string_at(taint, "key") == "node.kubernetes.io/not-ready") return;
  }
  taints.push_back({{"key", "node.kubernetes.io/not-ready"}, {"effect", "NoSchedule"}});
}

}  // namespace gpuward::fakes
