// The few Kubernetes objects and fields that gpuward needs. Fields that are not modelled are never
// written: changes are sent as patches. Plain values; JSON does not appear here.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/runtime/json_fwd.h"
#include "core/runtime/text.h"

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
  // The deletionTimestamp: when the grace period of a pod ends, not when its deletion was
  // requested.
  std::optional<WallTime> ends_at = {};
};

// Identity is (key, effect). `raw` is the JSON as read, sent back untouched in a rewritten list.
struct Taint {
  std::string key, value, effect;
  std::string raw;
};

// A toleration without a key tolerates every taint, one without an effect every effect.
struct Toleration {
  std::string key, op, value, effect;  // `op`: Exists, Equal, or empty, which is Equal
};

struct NodeCondition {
  std::string type, status, reason, message;
  // As read. The Api sets both when it writes: the heartbeat is now, the transition stays while the
  // status does.
  std::optional<WallTime> heartbeat = {}, transition = {};
};

struct OwnerReference {
  std::string api_version, kind, name, uid;
  bool controller = false;
};

struct Node {
  ObjectMeta meta;
  bool unschedulable = false;
  std::vector<Taint> taints;
  std::string provider_id;
  std::string boot_id;           // status.nodeInfo.bootID
  std::string system_uuid = {};  // status.nodeInfo.systemUUID: the firmware's, unchanged
  // The names in status.capacity, also those with the value 0: "cpu", "nvidia.com/gpu", ...
  std::vector<std::string> resources = {};
  std::vector<NodeCondition> conditions;
  std::vector<OwnerReference> owners = {};
  // The first InternalIP in status.addresses, IPv4 or IPv6; empty if it has none.
  std::string internal_ip = {};
};

// The end of a container of a pod.
struct ContainerEnd {
  std::string container;
  int exit_code = 0;
  std::string reason;   // "Error", "OOMKilled", ...
  std::string message;  // from its termination log, or the end of its log
};

struct Pod {
  ObjectMeta meta;
  std::string node_name;
  std::string phase;  // Pending, Running, Succeeded, Failed, Unknown
  std::vector<OwnerReference> owners;
  // The names of the resources that its containers request, if more than 0: "cpu",
  // "nvidia.com/gpu", ...
  std::vector<std::string> resources = {};
  bool has_resource_claims = false;  // devices by dynamic resource allocation
  std::string runtime_class = {};    // spec.runtimeClassName
  Labels node_selector = {};         // spec.nodeSelector
  std::vector<ContainerEnd> ended = {};
  std::string waiting = {};              // why a container waits: "ErrImagePull", ...
  std::optional<WallTime> started = {};  // status.startTime
  int grace_seconds = 30;                // spec.terminationGracePeriodSeconds
  std::string priority_class = {};
  int priority = 0;
  bool has_empty_dir = false;  // a volume that is deleted with the pod
  std::vector<Toleration> tolerations = {};
};

// The removal of a pod, by eviction or by deletion.
struct Eviction {
  std::string ns, pod;
  std::string uid;  // precondition: protects another pod of that name
  std::optional<int> grace_period_seconds;
  bool dry_run = false;  // the server decides and responds, but changes nothing
  // Sends one request without a wait, for a caller that asks for permission before each. If the
  // server has requested a pause, the error is kOverloaded with the rest of the pause as
  // retry_after.
  bool once = false;
};

// batch/v1
struct Job {
  ObjectMeta meta = {};
  bool is_complete = false;  // condition Complete
  bool is_failed = false;    // condition Failed
  std::string failure = {};  // that condition's reason: "BackoffLimitExceeded", "DeadlineExceeded"
};

// coordination.k8s.io/v1
struct Lease {
  ObjectMeta meta;
  std::string holder;
  int duration_seconds = 0;
  std::string acquire_time, renew_time;  // MicroTime, as written by the holder
  int transitions = 0;
};

// core/v1. Only gpuward may write a ConfigMap that it updates: fields that are not modelled here
// (binaryData, finalizers) do not survive an update.
struct ConfigMap {
  ObjectMeta meta = {};
  std::map<std::string, std::string> data = {};
};

// core/v1 Event on a Node. `node_uid` is the real UID, by which `kubectl describe node` finds it.
struct NodeEvent {
  std::string node, node_uid;
  bool warning = false;
  std::string reason;   // CamelCase
  std::string message;  // at most 1 KiB
  std::string component;
};

// An object of a custom resource: its metadata and its whole JSON.
struct CustomObject {
  ObjectMeta meta;
  std::shared_ptr<const Json> json;  // never null
};

// The type of a custom resource: {"gpuward.dev", "v1alpha1", "remediations", ""} if cluster-scoped.
struct ResourceType {
  std::string group, version, plural, ns;
};

[[nodiscard]] inline bool is_ready(const Node& node) {
  return std::ranges::any_of(node.conditions, [](const NodeCondition& condition) {
    return condition.type == "Ready" && condition.status == "True";
  });
}

// When it became Ready or ceased to be; nullopt if its condition has no time.
[[nodiscard]] inline std::optional<WallTime> ready_since(const Node& node) {
  const auto ready = std::ranges::find(node.conditions, "Ready", &NodeCondition::type);
  return ready == node.conditions.end() ? std::nullopt : ready->transition;
}

// The node's kubelet does not respond, so nothing confirms that a pod has ended.
[[nodiscard]] inline bool is_unreachable(const Node& node) {
  return std::ranges::any_of(node.conditions, [](const NodeCondition& condition) {
    return condition.type == "Ready" && condition.status == "Unknown";
  });
}

// The API server increments the versions of a kind, which Kubernetes 1.35 documents. A version that
// is not a number exists only in tests and is never older.
[[nodiscard]] inline bool is_older(std::string_view version, std::string_view than) {
  const auto left = parse_integer<std::uint64_t>(version);
  const auto right = parse_integer<std::uint64_t>(than);
  return left && right && *left < *right;
}

}  // namespace gpuward::kube
