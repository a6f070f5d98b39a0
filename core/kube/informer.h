// A local copy of a collection: list, then watch with bookmarks, list again on 410, back-off 800 ms
// to 30 s with jitter. Each watch ends after 15 to 20 s and goes on from the last version seen, in
// one request and without a list, so that one which died without a word is noticed within 25 s. One
// that ends without even a bookmark may wait for versions that a restored store has not come to
// again: then it asks where the store stands. After more than 30 s of silence it lists again: a
// store that was restored meanwhile may have come past the version to watch from. The remediator's
// reconcile loop is driven by it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <stop_token>
#include <string>

#include "core/kube/api.h"
#include "core/runtime/backoff.h"

namespace gpuward::kube {

using ObjectVersions = std::map<std::string, std::string>;

// Called by Informer::turn(), in order; must be quick. Any may be empty.
struct InformerHandlers {
  std::function<void(const Json& object)> on_upsert;  // kube::read_* reads it
  // "name", or "namespace/name". An object re-created under its name is deleted first, with or
  // without an event.
  std::function<void(const std::string& name)> on_delete;
  // After each complete list, with all that it has and its version.
  std::function<void(const std::set<std::string>& names, const std::string& version)> on_synced;
  // The server has been heard: a complete list, an event, a bookmark, or the end of a watch in good
  // order. Until then it may have kept anything from us.
  std::function<void()> on_heard;
  // The versions of all objects that are known, by name, be it from the answer to an own write.
  // Asked before each list, which must not be older.
  std::function<ObjectVersions()> known = {};
  // A list is older than what was reported before: the store was restored from a backup, and
  // nothing that was reported need be true any more.
  std::function<void(const std::string& why)> on_went_back;
  std::function<void(const Error& error)> on_error;  // it is tried again
};

// One thread.
class Informer {
 public:
  // `api` and `clock` must outlive it. `jitter_seed` 0: seeded from the system.
  Informer(Api& api, Clock& clock, std::string collection, InformerHandlers handlers,
           std::uint64_t jitter_seed = 0);

  // Until `stop`; returns then (a list under way ends first, unless ApiOptions::stop ends it).
  // Never gives up on errors.
  void run(const std::stop_token& stop);
  // One list, or one watch until it ends; how long to wait before the next turn.
  [[nodiscard]] std::chrono::milliseconds turn(const std::stop_token& stop);

 private:
  [[nodiscard]] Status relist();
  void compare_with_known(const ObjectVersions& known, const ObjectVersions& listed,
                          const std::string& version) const;
  [[nodiscard]] Status check_not_gone_back();
  void forget_all_but(const ObjectVersions& listed);
  [[nodiscard]] Status follow(const std::stop_token& stop);
  void take(const WatchEvent& event);
  std::optional<ObjectMeta> upsert(const Json& object);
  void deleted(const std::string& key);
  void note_heard();
  void report(const Error& error);

  Api& api_;
  Clock& clock_;
  const std::string collection_;
  const InformerHandlers handlers_;
  Backoff backoff_;
  Clock::Steady healthy_since_;
  std::map<std::string, std::string> uids_;  // by key
  std::string version_;                      // to watch from, the last that was reported
  bool must_list_ = true;
  Clock::Steady heard_at_{};
};

}  // namespace gpuward::kube
