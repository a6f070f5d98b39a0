#include "core/kube/informer.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "core/kube/parse.h"
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
  Status relist() {
    auto listing = api_.list(collection_);
    if (!listing) return std::unexpected(std::move(listing.error()));
    std::map<std::string, std::string> before = std::exchange(uids_, {});
    for (const std::string& json : listing->items) {
      if (const auto meta = upsert(json, before)) before.erase(*meta);
    }
    for (const auto& [key, uid] : before) deleted(key);
    version_ = std::move(listing->resource_version);
    if (handlers_.on_synced) handlers_.on_synced();
    return {};
  }

  Status follow(const std::stop_token& stop) {
    bool heard = false;
    const auto began = clock_.steady();
    auto ended = api_.watch(collection_, *version_, stop, [&](const WatchEvent& event) {
      heard = true;
      take(event);
    });
    if (ended && !heard && clock_.steady() - began < kTooShort) {
      return fail(ErrorKind::kUnavailable,
                  "the watch of " + collection_ + " ended at once without an event");
    }
    return ended;
  }

  void take(const WatchEvent& event) {
    if (event.type == WatchEvent::Type::kDeleted) {
      if (const auto object = parse_custom(event.json)) {
        uids_.erase(key_of(object->meta));
        deleted(key_of(object->meta));
      } else {
        report(object.error());
      }
    } else if (event.type != WatchEvent::Type::kBookmark) {
      upsert(event.json, uids_);
    }
    if (!event.resource_version.empty()) version_ = event.resource_version;
  }

  // The object's key. `known` says under which UIDs objects were known: another one under the same
  // name is a deletion that nobody saw.
  std::optional<std::string> upsert(const std::string& json,
                                    const std::map<std::string, std::string>& known) {
    const auto object = parse_custom(json);
    if (!object) {
      report(object.error());
      return std::nullopt;
    }
    std::string key = key_of(object->meta);
    if (const auto at = known.find(key); at != known.end() && at->second != object->meta.uid)
      deleted(key);
    uids_[key] = object->meta.uid;
    if (handlers_.on_upsert) handlers_.on_upsert(json);
    return key;
  }

  void deleted(const std::string& key) {
    if (handlers_.on_delete) handlers_.on_delete(key);
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
