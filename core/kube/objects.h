// The few Kubernetes objects gpuward works with, with the few fields it needs. Fields that we do
// not model are never written: changes go as patches. Plain values; JSON does not appear here.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace gpuward::kube {

using Labels = std::map<std::string, std::string>;
using WallTime = std::chrono::system_clock::time_point;

struct ObjectMeta {
  std::string name;
  std::string ns;  // empty for cluster-scoped objects
  std::string uid;
  std::string resource_version;  // opaque: compared for equality only
  Labels labels;
  Labels annotations;
  std::optional<WallTime> created;
  bool deleting = false;  // metadata.deletionTimestamp is set
};

// Identity is (key, effect). `raw` is the JSON as read, sent back untouched in a rewritten list.
struct Taint {
  std::string key, value, effect;
  std::string raw;
};

struct NodeCondition {
  std::string type, status, reason, message;
};

struct Node {
  ObjectMeta meta;
  bool unschedulable = false;
  std::vector<Taint> taints;
  std::string provider_id;
  std::string boot_id;  // status.nodeInfo.bootID
  std::vector<NodeCondition> conditions;
};

struct OwnerReference {
  std::string api_version, kind, name, uid;
  bool controller = false;
};

struct Pod {
  ObjectMeta meta;
  std::string node_name;
  std::string phase;  // Pending, Running, Succeeded, Failed, Unknown
  std::vector<OwnerReference> owners;
};

// coordination.k8s.io/v1
struct Lease {
  ObjectMeta meta;
  std::string holder;
  int duration_seconds = 0;
  std::string acquire_time, renew_time;  // MicroTime, as written by the holder
  int transitions = 0;
};

// core/v1 Event on a Node. `node_uid` is the real UID: `kubectl describe node` looks it up by that.
struct NodeEvent {
  std::string node, node_uid;
  bool warning = false;
  std::string reason;   // CamelCase
  std::string message;  // at most 1 KiB
  std::string component;
};

// Any object of a custom resource: the metadata we work with, the rest as JSON text.
struct CustomObject {
  ObjectMeta meta;
  std::string json;  // the whole object as the server wrote it
};

// Which custom resource: {"gpuward.dev", "v1alpha1", "remediations", ""} for a cluster-scoped one.
struct ResourceType {
  std::string group, version, plural, ns;
};

}  // namespace gpuward::kube
