#include "exporter/watch/own_node.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "core/kube/decode.h"
#include "core/runtime/backoff.h"
#include "exporter/watch/asking_label.h"

namespace gpuward::exporter {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

// 5,000 exporters on one API server are 5,000 watches of one object each, which the server serves
// from its memory: 11 start in a second, and each delivers the writes of its node's kubelet (every
// 5 minutes if nothing changes: 17 a second) and a bookmark in 1 to 2 minutes (83 a second at
// most). None lists, and none reads etcd. After a failure they wait for 2.5 to 5 s, later for 1 to
// 2 minutes: no more than 83 requests a second while the server refuses them.
constexpr seconds kShortestWatch = minutes(5);
constexpr seconds kLongestWatch = minutes(10);
constexpr BackoffPolicy kBetweenTries{.first = seconds(5), .longest = minutes(2), .factor = 2.0};
// Bookmarks of a quiet kube-apiserver 1.37 are up to 2 minutes apart, so two of them are missing
// then.
constexpr seconds kLongestSilence = minutes(5);
// A watch that ends sooner has failed, with any answer of the server.
constexpr minutes kHealthy{1};
// A watch from this version starts with the current Node.
constexpr const char* kFromNow = "0";

}  // namespace

OwnNode::OwnNode(std::string name, MakeApi make_api, Clock& clock, Log& log)
    : name_(std::move(name)), make_api_(std::move(make_api)), clock_(clock), log_(log) {
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

std::optional<std::string> OwnNode::asking_label() const {
  const std::lock_guard lock(mutex_);
  return asking_;
}

bool OwnNode::has_answer() const {
  const std::lock_guard lock(mutex_);
  return has_answer_;
}

// After a watch that ended normally, the next continues from its last version. After a failure it
// restarts from the server's current state: the server may have forgotten the version, and a
// restored server may not have reached it yet.
void OwnNode::run(const std::stop_token& stop) {
  const std::unique_ptr<kube::Api> api = make_api_({}, stop);
  Backoff backoff(kBetweenTries);
  std::string version = kFromNow;
  while (!stop.stop_requested()) {
    const auto began = clock_.steady();
    const Status ended = watch(*api, version, stop);
    if (stop.stop_requested()) return;
    if (clock_.steady() - began >= kHealthy) {
      backoff.reset();
      complaint_.reset();
    }
    if (ended) continue;
    complain(ended.error());
    version = kFromNow;
    const auto asked = std::min(ended.error().retry_after, kBetweenTries.longest);
    if (!clock_.sleep_for(std::max(backoff.next(), asked), stop)) return;
  }
}

Status OwnNode::watch(kube::Api& api, std::string& version, const std::stop_token& stop) try {
  const auto began = clock_.steady();
  bool is_heard = false;
  const kube::WatchOptions options{.field_selector = "metadata.name=" + name_,
                                   .shortest = kShortestWatch,
                                   .longest = kLongestWatch,
                                   .longest_silence = kLongestSilence};
  Status ended = api.watch(
      "/api/v1/nodes", version, stop,
      [&](const kube::WatchEvent& event) {
        is_heard = true;
        take(event);
        if (!event.resource_version.empty()) version = event.resource_version;
      },
      options);
  if (ended && (!is_heard || clock_.steady() - began < kHealthy))
    return fail(ErrorKind::kUnavailable, "the watch closed too soon, or without a word");
  return ended;
} catch (const std::exception& error) {
  return fail(ErrorKind::kInternal, std::string("watching the Node: ") + error.what());
}

// The labels of a deleted Node still count, because the machine may register again in the middle of
// an upgrade. The new Node comes as a separate event.
void OwnNode::take(const kube::WatchEvent& event) {
  if (event.type == kube::WatchEvent::Type::kDeleted || !event.object) return;
  const auto meta = kube::decode_meta(*event.object);
  if (!meta || meta->name != name_) return;
  auto asking = label_asking_for_gpus(meta->labels);
  const std::lock_guard lock(mutex_);
  asking_ = std::move(asking);
  has_answer_ = true;
}

// Logs each kind of failure once, until a watch has lasted.
void OwnNode::complain(const Error& error) {
  {
    const std::lock_guard lock(mutex_);
    has_answer_ = true;
  }
  if (complaint_ == error.kind) return;
  complaint_ = error.kind;
  const bool is_refused = error.kind == ErrorKind::kForbidden;
  log_.warn("Cannot watch the Node: a driver upgrade may find the GPUs in use",
            {{"node", name_},
             {"error", error.message},
             {"advice",
              is_refused ? "grant watch on nodes: manifests/exporter-rbac.yaml" : "trying again"}});
}

}  // namespace gpuward::exporter
