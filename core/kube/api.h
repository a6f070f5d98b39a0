// A typed client for the parts of the Kubernetes API that gpuward uses. One method is one request
// (lists page); retries for what is safe to repeat are inside, bounded by a deadline. Works over
// any http::Client, so that the simulator can run it without a network. Any thread.
//
// Errors (ErrorKind): kConflict = read again and redo; kGone = list again; kBlocked = a
// PodDisruptionBudget says not now; kRefused = it never will (more than one budget); kOverloaded =
// the server's own 429 (priority and fairness), the whole Api backs off; kForbidden = RBAC, the
// message names verb and resource.
//
// Leases are renewed through an Api of their own: an overload that slows down the work must not
// cost the leadership.
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

// What is to become of a node's metadata and spec, in one merge-patch that carries the
// resourceVersion of the node it was decided on: all of it or (kConflict) nothing.
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
  // The server ends the watch after a time between them, after a bookmark 2 s before. At random, so
  // that the watches of a whole fleet do not end together. client-go's reflectors ask for 5 to 10
  // minutes; the defaults want to know sooner that nothing was kept from them: one more request in
  // 15 to 20 s for each watch, served from the server's memory. The bookmark keeps the version
  // young, so that none of them needs a list.
  std::chrono::seconds shortest{15}, longest{20};
  // A longer one is a connection that died without a word: the server would have ended the watch.
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
  // PATCH with metadata.resourceVersion and metadata.uid of `seen`; the node as it is afterwards.
  // One attempt: kConflict is the caller's (see update_node.h). A change that changes nothing is
  // not sent.
  [[nodiscard]] Result<Node> change_node(const Node& seen, const NodeChange& change);
  // A strategic-merge patch of one condition, by type.
  [[nodiscard]] Status set_node_condition(std::string_view node, const NodeCondition& condition);
  // The same in one request, from the node as it was seen; kConflict where its name belongs to
  // another node by now.
  [[nodiscard]] Result<Node> set_node_condition(const Node& seen, const NodeCondition& condition);

  // --- Pods: pods.cpp
  [[nodiscard]] Result<std::vector<Pod>> list_pods_on(std::string_view node);
  struct PodListing {
    std::vector<Pod> pods;
    std::string resource_version;
  };
  // The store's list is the last word. The cache's may be older, but no older than the listing of
  // `not_older_than` (empty: however old): it costs the server little however many pods there are,
  // where many servers read all of them out of their store. One attempt; an error where the cache
  // does not come so far in time.
  struct PodSource {
    bool is_cache = false;
    std::string not_older_than = {};
  };
  [[nodiscard]] Result<PodListing> list_pods_on(std::string_view node, const PodSource& source);
  [[nodiscard]] Result<std::vector<Pod>> list_pods(std::string_view ns,
                                                   std::string_view label_selector);
  [[nodiscard]] Result<Pod> get_pod(std::string_view ns, std::string_view name);
  // kNotFound: gone already. kConflict: another pod of that name.
  [[nodiscard]] Status evict(const Eviction& eviction);
  [[nodiscard]] Status delete_pod(const Eviction& deletion);

  // --- Jobs: jobs.cpp
  // `permit` is asked before each attempt, as transport.h's Call says.
  [[nodiscard]] Result<Job> create_job(std::string_view ns, std::string_view json,
                                       const Permit& permit = {});
  [[nodiscard]] Result<Job> get_job(std::string_view ns, std::string_view name);
  [[nodiscard]] Result<std::vector<Job>> list_jobs(std::string_view ns,
                                                   std::string_view label_selector = {});
  // With its pods. kNotFound: gone already.
  [[nodiscard]] Status delete_job(std::string_view ns, std::string_view name);

  // --- Leases: leases.cpp
  [[nodiscard]] Result<Lease> get_lease(std::string_view ns, std::string_view name);
  [[nodiscard]] Result<Lease> create_lease(const Lease& lease);
  [[nodiscard]] Result<Lease> update_lease(
      const Lease& lease);  // PUT guarded by its resourceVersion

  // --- ConfigMaps: config_maps.cpp. As they are in the store, never out of the server's cache.
  [[nodiscard]] Result<ConfigMap> get_config_map(std::string_view ns, std::string_view name);
  [[nodiscard]] Result<ConfigMap> create_config_map(const ConfigMap& config_map);
  // PUT guarded by its resourceVersion. kConflict may also be our own earlier try, whose answer was
  // lost: read again and see.
  [[nodiscard]] Result<ConfigMap> update_config_map(const ConfigMap& config_map);

  // --- Events: events.cpp. Best effort by contract of the caller; a failure fails no action.
  [[nodiscard]] Status create_event(const NodeEvent& event);

  // --- Custom resources: custom.cpp
  [[nodiscard]] Result<CustomObject> get_custom(const ResourceType& type, std::string_view name);
  [[nodiscard]] Result<std::vector<CustomObject>> list_custom(const ResourceType& type,
                                                              std::string_view label_selector = {});
  [[nodiscard]] Result<CustomObject> create_custom(const ResourceType& type, std::string_view json);
  // Of what is consumed once it was made: never repeated where the server may have taken it.
  // `permit` as below.
  [[nodiscard]] Status create_custom_once(const ResourceType& type, std::string_view json,
                                          const Permit& permit);
  // The server's answer to it, as if it were meant; nothing is made.
  [[nodiscard]] Status try_create_custom(const ResourceType& type, std::string_view json);
  // Merge-patches; put metadata.resourceVersion into `json` for compare-and-set. `permit` is asked
  // before each attempt, as transport.h's Call says.
  [[nodiscard]] Result<CustomObject> patch_custom(const ResourceType& type, std::string_view name,
                                                  std::string_view json, const Permit& permit = {});
  // PUT of the status alone, guarded by the metadata.resourceVersion in `json`, whose spec is not
  // looked at. The new metadata.
  [[nodiscard]] Result<ObjectMeta> update_custom_status(const ResourceType& type,
                                                        std::string_view name,
                                                        std::string_view json);
  // `permit` is asked before each attempt, as transport.h's Call says.
  [[nodiscard]] Status delete_custom(const ResourceType& type, std::string_view name,
                                     std::string_view uid_precondition = {},
                                     const Permit& permit = {});

  // --- Lists with their resourceVersion (api.cpp), and watches from it (watch.cpp). `collection`
  // is a path such as "/api/v1/nodes" or "/apis/gpuward.dev/v1alpha1/remediations".
  struct Visitor {                     // both may be empty
    std::function<void()> on_restart;  // the list begins anew: what came so far does not count
    std::function<void(const Json& object)> on_object;
  };
  // Hands out the objects one by one, so that never more than a page of them is held; the list's
  // resourceVersion.
  [[nodiscard]] Result<std::string> visit(std::string_view collection,
                                          std::string_view label_selector, const Visitor& visitor);
  // The version at which the collection stands in the store now.
  [[nodiscard]] Result<std::string> version_of(std::string_view collection);
  // Blocks until the watch ends: a value when the server closed it in good order (watch again from
  // the last resource version seen), kGone (list again), kCancelled, or a transport's error. From
  // the version "0" the objects that are there come first, as kAdded, out of the server's memory.
  [[nodiscard]] Status watch(std::string_view collection, std::string_view resource_version,
                             std::stop_token stop,
                             const std::function<void(const WatchEvent&)>& on_event,
                             const WatchOptions& options = {});

  // --- The server itself: api.cpp, who_am_i.cpp
  // GET /version: whether it answers us, and takes our credential. kInternal: what answers is not a
  // Kubernetes API server.
  [[nodiscard]] Status answers();
  // GET /readyz of the API server.
  [[nodiscard]] Status ready();
  // The user name that the API server sees us under. kNotFound before Kubernetes 1.28.
  [[nodiscard]] Result<std::string> who_am_i();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gpuward::kube
