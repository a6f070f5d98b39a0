// A typed client for the parts of the Kubernetes API that gpuward uses. One method is one request
// (lists page). It retries requests that are safe to repeat, up to a deadline. Works over any
// http::Client, so that the simulator can run it without a network. Thread-safe.
//
// Errors (ErrorKind): kConflict = read again and redo; kGone = list again; kBlocked = a
// PodDisruptionBudget does not allow it now; kRefused = the API server can never allow it (more
// than one budget); kOverloaded = the server's own 429 (priority and fairness), the whole Api backs
// off; kForbidden = RBAC, the message names verb and resource.
//
// Leases are renewed through a separate Api: an overload that slows down the work must not cost the
// leadership.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/http/client/client.h"
#include "core/kube/config.h"
#include "core/kube/objects.h"
#include "core/model/permit.h"
#include "core/model/result.h"
#include "core/runtime/clock.h"

namespace gpuward::kube {

struct ApiOptions {
  std::string server;  // ClusterConfig::server
  std::string user_agent = "gpuward";
  std::chrono::milliseconds request_timeout{10'000};
  std::chrono::milliseconds retry_deadline{30'000};  // for one call with its retries
  bool ends_program = false;                         // ApiDeadlines::ends_program
  int page_size = 100;                               // of lists: a page is held whole
  std::uint64_t jitter_seed = 0;                     // 0: seeded from the system
  std::stop_token stop;                              // ends waits between tries (kCancelled)
};

// The changes to a node's metadata and spec, sent as one merge-patch with the resourceVersion of
// the node that the decision was based on: all of them are applied or (kConflict) none.
struct NodeChange {
  Labels set_labels, set_annotations;
  std::vector<std::string> remove_labels, remove_annotations;
  std::optional<bool> unschedulable;
  std::vector<Taint> set_taints;     // replaces a taint with the same key and effect
  std::vector<Taint> remove_taints;  // by key and effect
};

struct WatchEvent {
  enum class Type : std::uint8_t { kAdded, kModified, kDeleted, kBookmark };
  Type type = Type::kAdded;
  std::shared_ptr<const Json> object;  // null for a bookmark
  std::string resource_version;
};

struct WatchOptions {
  std::string field_selector = {};  // "metadata.name=gpu-1"; empty: all
  // The server ends the watch after a random time between the two, so that the watches of a fleet
  // do not end together, and sends a bookmark 2 s earlier. client-go's reflectors ask for 5 to 10
  // minutes; these defaults notice a dead connection sooner, at the cost of one more request in 15
  // to 20 s for each watch, served from the server's memory. The bookmark keeps the version recent,
  // so that no watch needs a new list.
  std::chrono::seconds shortest{15}, longest{20};
  // A longer silence means that the connection is dead: the server would have ended the watch.
  std::chrono::milliseconds longest_silence{25'000};
};

class Api {
 public:
  // `http`, `credentials` and `clock` must outlive the Api.
  Api(ApiOptions options, http::Client& http, Credentials& credentials, Clock& clock);
  ~Api();
  Api(const Api&) = delete;
  Api& operator=(const Api&) = delete;

  // --- Nodes: nodes.cpp
  [[nodiscard]] Result<Node> get_node(std::string_view name);
  [[nodiscard]] Result<std::vector<Node>> list_nodes(std::string_view label_selector = {});
  // Sends a PATCH with metadata.resourceVersion and metadata.uid of `seen`; returns the node
  // afterwards. One attempt: the caller handles kConflict (see update_node.h). An empty change is
  // not sent.
  [[nodiscard]] Result<Node> change_node(const Node& seen, const NodeChange& change);
  // Sends a strategic-merge patch of one condition, by type.
  [[nodiscard]] Status set_node_condition(std::string_view node, const NodeCondition& condition);
  // The same in one request, based on `seen`; kConflict if the name belongs to another node now.
  [[nodiscard]] Result<Node> set_node_condition(const Node& seen, const NodeCondition& condition);

  // --- Pods: pods.cpp
  [[nodiscard]] Result<std::vector<Pod>> list_pods_on(std::string_view node);
  struct PodListing {
    std::vector<Pod> pods;
    std::string resource_version;
  };
  // The list from the store is current. The list from the server's cache may be older, but not
  // older than the listing of `not_older_than` (empty: any age). It costs the server little even
  // with many pods, where many API servers read all pods from their store. One attempt; an error if
  // the cache does not reach that version in time.
  struct PodSource {
    bool is_cache = false;
    std::string not_older_than = {};
  };
  [[nodiscard]] Result<PodListing> list_pods_on(std::string_view node, const PodSource& source);
  [[nodiscard]] Result<std::vector<Pod>> list_pods(std::string_view ns,
                                                   std::string_view label_selector);
  [[nodiscard]] Result<Pod> get_pod(std::string_view ns, std::string_view name);
  // kNotFound: the pod is gone already. kConflict: another pod has the name.
  [[nodiscard]] Status evict(const Eviction& eviction);
  [[nodiscard]] Status delete_pod(const Eviction& deletion);

  // --- Jobs: jobs.cpp
  // Asks `permit` before each attempt (Call in transport.h).
  [[nodiscard]] Result<Job> create_job(std::string_view ns, std::string_view json,
                                       const Permit& permit = {});
  [[nodiscard]] Result<Job> get_job(std::string_view ns, std::string_view name);
  [[nodiscard]] Result<std::vector<Job>> list_jobs(std::string_view ns,
                                                   std::string_view label_selector = {});
  // Deletes its pods too. kNotFound: it is gone already.
  [[nodiscard]] Status delete_job(std::string_view ns, std::string_view name);

  // --- Leases: leases.cpp
  [[nodiscard]] Result<Lease> get_lease(std::string_view ns, std::string_view name);
  [[nodiscard]] Result<Lease> create_lease(const Lease& lease);
  [[nodiscard]] Result<Lease> update_lease(
      const Lease& lease);  // PUT guarded by its resourceVersion

  // --- ConfigMaps: config_maps.cpp. Read from the store, never from the server's cache.
  [[nodiscard]] Result<ConfigMap> get_config_map(std::string_view ns, std::string_view name);
  [[nodiscard]] Result<ConfigMap> create_config_map(const ConfigMap& config_map);
  // PUT guarded by its resourceVersion. kConflict may also come from an earlier try of the same
  // call whose response was lost: read again to find out.
  [[nodiscard]] Result<ConfigMap> update_config_map(const ConfigMap& config_map);

  // --- Events: events.cpp. Best effort: the caller must not fail an action because of an error.
  [[nodiscard]] Status create_event(const NodeEvent& event);

  // --- Custom resources: custom.cpp
  [[nodiscard]] Result<CustomObject> get_custom(const ResourceType& type, std::string_view name);
  [[nodiscard]] Result<std::vector<CustomObject>> list_custom(const ResourceType& type,
                                                              std::string_view label_selector = {});
  [[nodiscard]] Result<CustomObject> create_custom(const ResourceType& type, std::string_view json);
  // For an object that is consumed as soon as it exists: not repeated if the server may have
  // accepted the request. `permit` as below.
  [[nodiscard]] Status create_custom_once(const ResourceType& type, std::string_view json,
                                          const Permit& permit);
  // A dry run, returns the server's response, but creates nothing.
  [[nodiscard]] Status try_create_custom(const ResourceType& type, std::string_view json);
  // Merge-patches; put metadata.resourceVersion into `json` for compare-and-set. Asks `permit`
  // before each attempt (Call in transport.h).
  [[nodiscard]] Result<CustomObject> patch_custom(const ResourceType& type, std::string_view name,
                                                  std::string_view json, const Permit& permit = {});
  // PUT of the status, guarded by the metadata.resourceVersion in `json`, whose spec the server
  // ignores. Returns the new metadata.
  [[nodiscard]] Result<ObjectMeta> update_custom_status(const ResourceType& type,
                                                        std::string_view name,
                                                        std::string_view json);
  // Asks `permit` before each attempt (Call in transport.h).
  [[nodiscard]] Status delete_custom(const ResourceType& type, std::string_view name,
                                     std::string_view uid_precondition = {},
                                     const Permit& permit = {});

  // --- Lists with their resourceVersion (api.cpp), and watches from it (watch.cpp). `collection`
  // is a path such as "/api/v1/nodes" or "/apis/gpuward.dev/v1alpha1/remediations".
  struct Visitor {                     // both may be empty
    std::function<void()> on_restart;  // the list restarts: discard the objects so far
    std::function<void(const Json& object)> on_object;
  };
  // Passes the objects one by one, so that only one page of them is in memory; returns the list's
  // resourceVersion.
  [[nodiscard]] Result<std::string> visit(std::string_view collection,
                                          std::string_view label_selector, const Visitor& visitor);
  // Returns the current version of the collection in the store.
  [[nodiscard]] Result<std::string> version_of(std::string_view collection);
  // Blocks until the watch ends: a value if the server closed it properly (watch again from the
  // last resource version seen), kGone (list again), kCancelled, or an error of the transport. From
  // version "0" the server first sends the existing objects, as kAdded, from its memory.
  [[nodiscard]] Status watch(std::string_view collection, std::string_view resource_version,
                             std::stop_token stop,
                             const std::function<void(const WatchEvent&)>& on_event,
                             const WatchOptions& options = {});

  // --- The server itself: api.cpp, who_am_i.cpp
  // GET /version: whether the server responds and accepts the credential. kInternal: the peer is
  // not a Kubernetes API server.
  [[nodiscard]] Status answers();
  // GET /readyz of the API server.
  [[nodiscard]] Status ready();
  // Returns the user name by which the API server knows this client. kNotFound before Kubernetes
  // 1.28.
  [[nodiscard]] Result<std::string> who_am_i();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gpuward::kube
