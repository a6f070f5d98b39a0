#include "tests/fakes/kube/store.h"

#include <algorithm>
#include <utility>

namespace gpuward::fakes {
namespace {

Object stamped(Json object, Revision revision) {
  object["metadata"]["resourceVersion"] = std::to_string(revision);
  return std::make_shared<const Json>(std::move(object));
}

}  // namespace

Store::Store(std::size_t history_window) : window_(history_window) {}

Object Store::find(const ObjectId& id) const {
  const std::lock_guard lock(mutex_);
  const auto found = objects_.find(id);
  return found == objects_.end() ? nullptr : found->second;
}

Store::Snapshot Store::list(const std::string& collection, const std::string& ns,
                            const ObjectId& after) const {
  const ObjectId first{collection, ns, ""};
  const std::lock_guard lock(mutex_);
  Snapshot snapshot;
  snapshot.revision = revision_;
  auto at = after.collection.empty() ? objects_.lower_bound(first) : objects_.upper_bound(after);
  for (; at != objects_.end() && at->first.collection == collection; ++at) {
    if (!ns.empty() && at->first.ns != ns) break;
    snapshot.objects.push_back(at->second);
  }
  return snapshot;
}

Object Store::put(const ObjectId& id, Json object) {
  const std::lock_guard lock(mutex_);
  Object now = stamped(std::move(object), ++revision_);
  Object& slot = objects_[id];
  const Object before = std::exchange(slot, now);
  record(before ? ChangeKind::kModified : ChangeKind::kAdded, id, now, before);
  return now;
}

Object Store::erase(const ObjectId& id) {
  const std::lock_guard lock(mutex_);
  const auto found = objects_.find(id);
  if (found == objects_.end()) return nullptr;
  const Object before = found->second;
  objects_.erase(found);
  const Object last = stamped(*before, ++revision_);
  record(ChangeKind::kDeleted, id, last, before);
  return last;
}

Revision Store::revision() const {
  const std::lock_guard lock(mutex_);
  return revision_;
}

Store::Backup Store::backup() const {
  const std::lock_guard lock(mutex_);
  return {objects_, revision_};
}

void Store::restore(const Backup& backup, Revision revision) {
  const std::lock_guard lock(mutex_);
  objects_ = backup.objects;
  revision_ = revision;
  history_.clear();
  forgotten_up_to_ = revision;
  changed_.notify_all();
}

void Store::record(ChangeKind kind, const ObjectId& id, const Object& now, const Object& before) {
  history_.push_back(std::make_shared<const Change>(Change{revision_, kind, id, now, before}));
  if (history_.size() > window_) {
    forgotten_up_to_ = history_.front()->revision;
    history_.pop_front();
  }
  changed_.notify_all();
}

void Store::forget_history() {
  const std::lock_guard lock(mutex_);
  history_.clear();
  // The revision before the next write is still valid: only older ones are gone.
  forgotten_up_to_ = revision_;
  changed_.notify_all();
}

bool Store::remembers_locked(Revision since) const { return since >= forgotten_up_to_; }

bool Store::remembers(Revision since) const {
  const std::lock_guard lock(mutex_);
  return remembers_locked(since);
}

Store::News Store::wait_for_news(const std::string& collection, Revision since,
                                 std::chrono::milliseconds limit) const {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, limit,
                    [&] { return closed_ || revision_ > since || !remembers_locked(since); });
  News news;
  news.seen = std::max(revision_, since);
  news.forgotten = !remembers_locked(since);
  if (news.forgotten || closed_) return news;
  const auto newer = [](Revision value, const ChangePtr& change) {
    return value < change->revision;
  };
  for (auto at = std::upper_bound(history_.begin(), history_.end(), since, newer);
       at != history_.end(); ++at) {
    if ((*at)->id.collection == collection) news.changes.push_back(*at);
  }
  return news;
}

void Store::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

bool Store::closed() const {
  const std::lock_guard lock(mutex_);
  return closed_;
}

}  // namespace gpuward::fakes
