#include "core/kube/informer.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "core/kube/decode.h"
#include "core/runtime/backoff.h"

namespace gpuward::kube {
namespace {

using std::chrono::milliseconds;

constexpr BackoffPolicy kBetweenTries{milliseconds(800), milliseconds(30'000), 2.0};
constexpr std::chrono::minutes kHealthy{
    2};  // after so long without an error, the back-off begins anew
constexpr std::chrono::seconds kTooShort{
    1};  // a watch that ends sooner without an event is a failure

std::string key_of(const ObjectMeta& meta) {
  return meta.ns.empty() ? meta.name : meta.ns + "/" + meta.name;
}

class Informer {
 public:
  Informer(Api& api, Clock& clock, const std::string& collection, const InformerHandlers& handlers,
           const std::function<void(const Error&)>& on_error)
      : api_(api),
        clock_(clock),
        collection_(collection),
        handlers_(handlers),
        on_error_(on_error) {}

  void run(const std::stop_token& stop) {
    Backoff backoff(kBetweenTries);
    auto healthy_since = clock_.steady();
    while (!stop.stop_requested()) {
      const auto done = version_ ? follow(stop) : relist();
      if (stop.stop_requested()) return;
      if (done) continue;
      report(done.error());
      if (done.error().kind == ErrorKind::kGone) version_.reset();
      if (clock_.steady() - healthy_since > kHealthy) backoff.reset();
      if (!clock_.sleep_for(std::max(backoff.next(), done.error().retry_after), stop)) return;
      healthy_since = clock_.steady();
    }
  }

 private:
  // What came of a list that fails half-way is true all the same.
  Status relist() {
    std::set<std::string> seen;
    auto version = api_.visit(collection_, {},
                              {.on_restart = [&] { seen.clear(); },
                               .on_object =
                                   [&](const Json& object) {
                                     if (auto key = upsert(object)) seen.insert(*std::move(key));
                                   }});
    if (!version) return std::unexpected(std::move(version.error()));
    forget_all_but(seen);
    version_ = *std::move(version);
    if (handlers_.on_synced) handlers_.on_synced();
    note_heard();
    return {};
  }

  void forget_all_but(const std::set<std::string>& seen) {
    const auto before = std::exchange(uids_, {});
    for (const auto& [key, uid] : before) {
      if (seen.contains(key)) {
        uids_.emplace(key, uid);
      } else {
        deleted(key);
      }
    }
  }

  Status follow(const std::stop_token& stop) {
    bool heard = false;
    const auto began = clock_.steady();
    auto ended = api_.watch(collection_, *version_, stop, [&](const WatchEvent& event) {
      heard = true;
      take(event);
      note_heard();
    });
    if (ended && !heard && clock_.steady() - began < kTooShort) {
      return fail(ErrorKind::kUnavailable,
                  "the watch of " + collection_ + " ended at once without an event");
    }
    if (ended) note_heard();
    return ended;
  }

  void take(const WatchEvent& event) {
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

  // The object's key. Another one under a name that was known is a deletion that nobody saw.
  std::optional<std::string> upsert(const Json& object) {
    const auto meta = decode_meta(object);
    if (!meta) {
      report(meta.error());
      return std::nullopt;
    }
    std::string key = key_of(*meta);
    if (const auto at = uids_.find(key); at != uids_.end() && at->second != meta->uid) deleted(key);
    uids_[key] = meta->uid;
    if (handlers_.on_upsert) handlers_.on_upsert(object);
    return key;
  }

  void deleted(const std::string& key) {
    if (handlers_.on_delete) handlers_.on_delete(key);
  }

  void note_heard() {
    if (handlers_.on_heard) handlers_.on_heard();
  }

  void report(const Error& error) {
    if (on_error_) on_error_(error);
  }

  Api& api_;
  Clock& clock_;
  const std::string& collection_;
  const InformerHandlers& handlers_;
  const std::function<void(const Error&)>& on_error_;
  std::map<std::string, std::string> uids_;  // by key
  std::optional<std::string> version_;       // to watch from; none: list
};

}  // namespace

void run_informer(Api& api, Clock& clock, const std::string& collection,
                  const InformerHandlers& handlers,
                  const std::function<void(const Error&)>& on_error, std::stop_token stop) {
  Informer(api, clock, collection, handlers, on_error).run(stop);
}

}  // namespace gpuward::kube
