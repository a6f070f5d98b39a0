#include "core/kube/informer.h"

#include <algorithm>
#include <utility>

#include "core/kube/decode.h"
#include "core/kube/objects.h"
#include "core/runtime/json.h"

namespace gpuward::kube {
namespace {

using std::chrono::milliseconds;

constexpr BackoffPolicy kBetweenTries{milliseconds(800), milliseconds(30'000), 2.0};
// After this time without an error, the back-off is reset.
constexpr std::chrono::minutes kHealthy{2};
// A watch that ends sooner without an event is a failure.
constexpr std::chrono::seconds kTooShort{1};
constexpr std::chrono::seconds kLongestSilence{30};

std::string key_of(const ObjectMeta& meta) {
  return meta.ns.empty() ? meta.name : meta.ns + "/" + meta.name;
}

std::set<std::string> names_in(const ObjectVersions& versions) {
  std::set<std::string> names;
  for (const auto& [name, version] : versions) names.insert(name);
  return names;
}

}  // namespace

Informer::Informer(Api& api, Clock& clock, std::string collection, InformerHandlers handlers,
                   std::uint64_t jitter_seed)
    : api_(api),
      clock_(clock),
      collection_(std::move(collection)),
      handlers_(std::move(handlers)),
      backoff_(kBetweenTries, jitter_seed),
      healthy_since_(clock.steady()) {}

void Informer::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    const milliseconds wait = turn(stop);
    if (wait.count() > 0 && !clock_.sleep_for(wait, stop)) return;
  }
}

milliseconds Informer::turn(const std::stop_token& stop) {
  if (clock_.steady() - heard_at_ > kLongestSilence) must_list_ = true;
  const auto done = must_list_ ? relist() : follow(stop);
  if (done || stop.stop_requested()) return {};
  report(done.error());
  if (done.error().kind == ErrorKind::kGone) must_list_ = true;
  const Clock::Steady now = clock_.steady();
  if (now - healthy_since_ > kHealthy) backoff_.reset();
  const milliseconds wait = std::max(backoff_.next(), done.error().retry_after);
  healthy_since_ = now + wait;
  return wait;
}

// The objects of a list that fails half-way are still valid reports.
Status Informer::relist() {
  ObjectVersions listed, known;
  if (handlers_.known) known = handlers_.known();
  auto version = api_.visit(collection_, {},
                            {.on_restart = [&] { listed.clear(); },
                             .on_object =
                                 [&](const Json& object) {
                                   auto meta = upsert(object);
                                   if (meta) listed[key_of(*meta)] = meta->resource_version;
                                 }});
  if (!version) return std::unexpected(std::move(version.error()));
  forget_all_but(listed);
  compare_with_known(known, listed, *version);
  version_ = *std::move(version);
  must_list_ = false;
  if (handlers_.on_synced) handlers_.on_synced(names_in(listed), version_);
  note_heard();
  return {};
}

// A restored store whose versions were raised still holds old objects, so compare each object too.
void Informer::compare_with_known(const ObjectVersions& known, const ObjectVersions& listed,
                                  const std::string& version) const {
  if (!handlers_.on_went_back) return;
  std::string newest = version_, older;
  for (const auto& [name, at] : known) {
    if (newest.empty() || is_older(newest, at)) newest = at;
    const auto now = listed.find(name);
    if (now != listed.end() && is_older(now->second, at))
      older = name + " went from resourceVersion " + at + " back to " + now->second;
  }
  if (is_older(version, newest)) {
    handlers_.on_went_back("resourceVersion of " + collection_ + " decreased from " + newest +
                           " to " + version);
  } else if (!older.empty()) {
    handlers_.on_went_back("in " + collection_ + ", " + older);
  }
}

Status Informer::check_not_gone_back() {
  const auto now = api_.version_of(collection_);
  if (!now) return std::unexpected(now.error());
  if (!is_older(*now, version_)) return {};
  return fail(ErrorKind::kGone, collection_ + " is at resourceVersion " + *now + ", but was at " +
                                    version_ + " before");
}

void Informer::forget_all_but(const ObjectVersions& listed) {
  const auto before = std::exchange(uids_, {});
  for (const auto& [key, uid] : before) {
    if (listed.contains(key)) {
      uids_.emplace(key, uid);
    } else {
      deleted(key);
    }
  }
}

Status Informer::follow(const std::stop_token& stop) {
  bool heard = false;
  const auto began = clock_.steady();
  auto ended = api_.watch(collection_, version_, stop, [&](const WatchEvent& event) {
    heard = true;
    take(event);
    note_heard();
  });
  if (ended && !heard && clock_.steady() - began < kTooShort) {
    return fail(ErrorKind::kUnavailable,
                "the watch on " + collection_ + " closed immediately, without an event");
  }
  if (ended && !heard) ended = check_not_gone_back();
  if (ended) note_heard();
  return ended;
}

void Informer::take(const WatchEvent& event) {
  if (event.type == WatchEvent::Type::kDeleted) {
    if (const auto meta = decode_meta(*event.object)) {
      uids_.erase(key_of(*meta));
      deleted(key_of(*meta));
    } else {
      report(meta.error());
    }
  } else if (event.type != WatchEvent::Type::kBookmark) {
    upsert(*event.object);
  }
  if (!event.resource_version.empty()) version_ = event.resource_version;
}

// Another UID under a known name means that the watch missed a deletion.
std::optional<ObjectMeta> Informer::upsert(const Json& object) {
  auto meta = decode_meta(object);
  if (!meta) {
    report(meta.error());
    return std::nullopt;
  }
  const std::string key = key_of(*meta);
  if (const auto at = uids_.find(key); at != uids_.end() && at->second != meta->uid) deleted(key);
  uids_[key] = meta->uid;
  if (handlers_.on_upsert) handlers_.on_upsert(object);
  return *std::move(meta);
}

void Informer::deleted(const std::string& key) {
  if (handlers_.on_delete) handlers_.on_delete(key);
}

void Informer::note_heard() {
  heard_at_ = clock_.steady();
  if (handlers_.on_heard) handlers_.on_heard();
}

void Informer::report(const Error& error) {
  if (handlers_.on_error) handlers_.on_error(error);
}

}  // namespace gpuward::kube
