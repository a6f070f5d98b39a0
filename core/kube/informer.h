// A local copy of a collection: list, then watch with bookmarks, list again on 410, back-off 800 ms
// to 30 s with jitter. Each watch ends after 15 to 20 s and resumes from the last version seen, in
// one request and without a list, so that a dead connection is noticed within 25 s. A watch that
// ends without even a bookmark may be waiting for versions that a restored store has not reached
// again: the informer then checks the current version. After more than 30 s of silence it lists
// again: a store restored meanwhile may have passed the version to watch from. Drives the
// remediator's reconcile loop.
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
  std::function<void(const Json& object)> on_upsert;  // decode.h reads it
  // "name", or "namespace/name". If an object was re-created under its name, the old one is deleted
  // first, with or without an event.
  std::function<void(const std::string& name)> on_delete;
  // Called after each complete list, with all its names and its version.
  std::function<void(const std::set<std::string>& names, const std::string& version)> on_synced;
  // The server has responded: a complete list, an event, a bookmark, or the regular end of a watch.
  // Until then changes may be missing.
  std::function<void()> on_heard;
  // Returns the versions of all known objects by name, including those from responses to own
  // writes. Called before each list, which must not be older.
  std::function<ObjectVersions()> known = {};
  // A list is older than an earlier report: the store was restored from a backup, and earlier
  // reports may be wrong.
  std::function<void(const std::string& why)> on_went_back;
  std::function<void(const Error& error)> on_error;  // the informer tries again
};

// One thread.
class Informer {
 public:
  // `api` and `clock` must outlive it. `jitter_seed` 0: seeded from the system.
  Informer(Api& api, Clock& clock, std::string collection, InformerHandlers handlers,
           std::uint64_t jitter_seed = 0);

  // Runs until `stop`, then returns (a list in progress ends first, unless ApiOptions::stop cancels
  // it). Never gives up on errors.
  void run(const std::stop_token& stop);
  // Does one list, or one watch until it ends; returns the wait before the next turn.
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
  std::string version_;                      // to watch from: the last one reported
  bool must_list_ = true;
  Clock::Steady heard_at_{};
};

}  // namespace gpuward::kube
