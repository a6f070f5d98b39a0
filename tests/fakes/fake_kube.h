// A Kubernetes API in memory, as one function from request to response: nodes, pods with eviction
// and graceful deletion, namespaces, configmaps, disruption budgets, leases, events, workloads, and
// all kinds that CustomResourceDefinitions define; patches, conflicts, lists in pages, watches,
// Tables, deliberate faults. It passes the same contract tests as a real kube-apiserver.
// FakeApiServer gives it a port; InProcessClient calls it without one.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/http/server/server.h"
#include "core/runtime/clock.h"
#include "core/runtime/json.h"
#include "tests/fakes/kube/access.h"
#include "tests/fakes/kube/faults.h"
#include "tests/fakes/kube/request_log.h"
#include "tests/fakes/kube/world.h"

namespace gpuward::fakes {

struct FakeKubeOptions {
  std::size_t history_window = 10'000;  // number of past changes from which a watch may start
  std::chrono::milliseconds bookmark_interval{1'000};
  PodEnd pod_end = PodEnd::kKubelet;
};

class FakeKube {
 public:
  // `clock` must outlive it: it gives the timestamps, the grace periods and the length of watches.
  explicit FakeKube(Clock& clock, FakeKubeOptions options = {});
  ~FakeKube();
  FakeKube(const FakeKube&) = delete;
  FakeKube& operator=(const FakeKube&) = delete;

  // Any thread, several at once. Status 0 means: cut the connection without an answer. A watch is a
  // response with a stream, which must not outlive the FakeKube.
  [[nodiscard]] http::Response handle(const http::Request& request);

  // --- Shortcuts for tests, without access rules, faults and the log. Paths as in URLs, with the
  // query. A failure throws std::runtime_error, because the test is wrong.
  Json get(const std::string& path);
  Json create(const std::string& path, const Json& object);  // path of the collection
  Json patch(const std::string& path, const Json& merge_patch);
  Json patch_status(const std::string& path, const Json& merge_patch);  // path of the object
  void remove(const std::string& path);  // with grace 0, as a kubelet does
  [[nodiscard]] bool has(const std::string& path);
  // Makes the object that much older.
  void backdate(const std::string& path, std::chrono::seconds age);
  // The changes that a watch of that collection from that revision would have received until now.
  [[nodiscard]] Store::News changes_since(const std::string& collection, Revision since) const;
  // Ends all pods that are Terminating, as their kubelets would; returns their number.
  std::size_t end_terminating_pods();

  // --- Faults.
  std::size_t add_fault(const Fault& fault) { return faults_.add(fault); }
  [[nodiscard]] std::size_t fault_hits(std::size_t number) const { return faults_.hits(number); }
  void clear_faults() { faults_.clear(); }
  [[nodiscard]] FaultPlan& faults() { return faults_; }
  [[nodiscard]] Access& access() { return access_; }
  // Whether the admission policies of approvals are in force; they are at the start.
  void guard_approvals(bool guards) { guards_approvals_ = guards; }
  // Watches and pages that began before now get 410 from now on.
  void forget_history() { world_.store.forget_history(); }
  // The present state of etcd, for a later restore: see Store.
  [[nodiscard]] Store::Backup backup() const { return world_.store.backup(); }
  void restore(const Store::Backup& backup, Revision revision);
  // Ends all watches and refuses new ones; call it before the server ends.
  void close() { world_.store.close(); }

  [[nodiscard]] std::vector<LoggedRequest> requests() const { return log_.all(); }
  // The logged requests with that method and that beginning of the path.
  [[nodiscard]] std::vector<LoggedRequest> requests(std::string_view method,
                                                    std::string_view path_prefix) const;
  void clear_requests() { log_.clear(); }
  [[nodiscard]] Revision revision() const { return world_.store.revision(); }

 private:
  http::Response answer_safely(const http::Request& request);
  http::Response answer(const http::Request& request);
  http::Response answer_with(const Fault& fault, const http::Request& request);
  http::Response serve(const Target& target, const std::string& verb, const http::Request& request);
  Check admit(const std::string& user, const Target& target, const std::string& verb,
              const http::Request& request);
  http::Response answer_without_target(const std::string& user, const http::Request& request,
                                       const Failure& failure);
  http::Response serve_list(const Target& target, const http::Request& request);
  http::Response serve_get(const Target& target, const http::Request& request);
  http::Response serve_delete(const Target& target, const http::Request& request);
  http::Response serve_write(const Target& target, const std::string& verb,
                             const http::Request& request);
  http::Response serve_watch(const Target& target, const http::Request& request);
  Json call(const std::string& method, const std::string& path, const Json& body,
            std::string_view content_type);

  FakeKubeOptions options_;
  World world_;
  Access access_;
  std::atomic<bool> guards_approvals_{true};
  FaultPlan faults_;
  RequestLog log_;
};

}  // namespace gpuward::fakes
