// The objects of the fake API and their changes: one revision counter, and a window of past changes
// for watches. Any thread. The caller guards read-modify-write (FakeKube has one lock for writers).
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/runtime/json.h"

namespace gpuward::fakes {

using Object = std::shared_ptr<const Json>;
using Revision = std::uint64_t;

struct ObjectId {
  std::string collection, ns, name;
  auto operator<=>(const ObjectId&) const = default;
};

enum class ChangeKind { kAdded, kModified, kDeleted };

struct Change {
  Revision revision = 0;
  ChangeKind kind = ChangeKind::kAdded;
  ObjectId id;
  Object now;     // after the change; for kDeleted its last state
  Object before;  // null for kAdded
};

using ChangePtr = std::shared_ptr<const Change>;

class Store {
 public:
  explicit Store(std::size_t history_window);

  [[nodiscard]] Object find(const ObjectId& id) const;
  struct Snapshot {
    std::vector<Object> objects;  // by namespace and name
    Revision revision = 0;
  };
  // `ns` empty: all namespaces. Starts after `after` (the last id of a page).
  [[nodiscard]] Snapshot list(const std::string& collection, const std::string& ns,
                              const ObjectId& after = {}) const;
  // Stores it under a new revision, which it writes into metadata.resourceVersion.
  Object put(const ObjectId& id, Json object);
  // The last state of the object, with the revision of its deletion; null if there was none.
  Object erase(const ObjectId& id);
  [[nodiscard]] Revision revision() const;

  struct Backup {
    std::map<ObjectId, Object> objects;
    Revision revision = 0;
  };
  [[nodiscard]] Backup backup() const;
  // All objects get their old state and their old versions. The store continues from `revision`:
  // the backup's own, or a higher one, before which no watch has changes.
  void restore(const Backup& backup, Revision revision);

  // Forgets past changes, as a compaction does: older revisions are gone from now on.
  void forget_history();
  [[nodiscard]] bool remembers(Revision since) const;

  struct News {
    std::vector<ChangePtr> changes;
    Revision seen = 0;  // ask from here next time
    bool forgotten = false;
  };
  // Waits up to `limit` for changes of that collection after `since`.
  [[nodiscard]] News wait_for_news(const std::string& collection, Revision since,
                                   std::chrono::milliseconds limit) const;
  // Ends all waits from now on (the server stops).
  void close();
  [[nodiscard]] bool closed() const;

 private:
  void record(ChangeKind kind, const ObjectId& id, const Object& now, const Object& before);
  [[nodiscard]] bool remembers_locked(Revision since) const;

  std::size_t window_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::map<ObjectId, Object> objects_;
  std::deque<ChangePtr> history_;
  Revision revision_ = 1;
  Revision forgotten_up_to_ = 0;
  bool closed_ = false;
};

}  // namespace gpuward::fakes
