#include "tests/simulation/watch_wire.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/http/syntax/url.h"
#include "core/runtime/text.h"
#include "remediator/cluster/remediation_json.h"

namespace gpuward::remediator::simulation {
namespace {

http::ClientResponse refusal(int status, const std::string& reason) {
  http::ClientResponse answer;
  answer.status = status;
  answer.body = dump_json({{"kind", "Status"},
                           {"status", "Failure"},
                           {"code", status},
                           {"reason", reason},
                           {"message", "not now"}});
  return answer;
}

std::string line(std::string_view type, const Json& object) {
  return R"({"type":")" + std::string(type) + R"(","object":)" + dump_json(object) + "}\n";
}

std::string_view type_of(const fakes::Change& change) {
  if (change.kind == fakes::ChangeKind::kAdded) return "ADDED";
  return change.kind == fakes::ChangeKind::kDeleted ? "DELETED" : "MODIFIED";
}

std::string query_value_of(const std::string& url, const std::string& key) {
  return http::query_value(http::parse_query(url.substr(url.find('?') + 1)), key);
}

}  // namespace

std::string WatchWire::collection() const {
  return kind_ == Resource::kNode ? "/api/v1/nodes" : remediation_collection();
}

bool WatchWire::is_dead() const { return !stage_.is_quiet && dead_until_ > stage_.clock.steady(); }

// The server restarts with an empty cache.
void WatchWire::note_restore() {
  if (std::exchange(restores_, stage_.restores) == stage_.restores) return;
  served_ = 0;
  told_ = 0;
}

void WatchWire::serve(std::size_t count) {
  note_restore();
  const std::size_t all = stage_.truth.changes().size();
  served_ = count > all - std::min(served_, all) ? all : served_ + count;
}

Version WatchWire::served() const {
  const bool is_none = served_ == 0 || restores_ != stage_.restores;
  return is_none ? 0 : stage_.truth.changes()[served_ - 1];
}

WatchWire::Fault WatchWire::draw_fault() {
  Chance& chance = stage_.informer_chance;
  if (stage_.is_quiet || !chance.happens(stage_.setting.watch_fault)) return Fault::kNone;
  const auto fault = std::array{Fault::kRefused, Fault::kGone, Fault::kForgets,
                                Fault::kCut}[chance.weighted({30, 15, 25, 30})];
  // a compaction affects every watch
  if (fault == Fault::kForgets) stage_.kube.forget_history();
  return fault;
}

std::unexpected<Error> WatchWire::no_answer(std::chrono::milliseconds within) {
  busy_until_ = stage_.clock.steady() + within;
  return fail(ErrorKind::kTimeout, "no answer");
}

void WatchWire::note_told(Version version) {
  told_ = std::max(told_, version);
  spoke_ = stage_.clock.steady();
}

// The object as a sabotage bends it.
Json WatchWire::bent(const Json& object) const {
  if (stage_.sabotage == Sabotage::kNone) return object;
  const Address address{kind_, string_at(member_at(object, "metadata"), "name")};
  return *parse_json(bent_answer(stage_, address, false, dump_json(object)));
}

Result<http::ClientResponse> WatchWire::send(const http::ClientRequest& request) {
  note_restore();
  has_listed_ = true;
  if (is_dead()) return no_answer(request.timeout);
  const Fault fault = draw_fault();
  if (fault == Fault::kRefused) return refusal(500, "InternalError");
  if (fault == Fault::kCut) return fail(ErrorKind::kUnavailable, "the connection was cut");
  auto answer = client_.send(request);
  if (!answer || answer->status / 100 != 2) return answer;
  const bool goes_on =
      answer->body.contains(R"("continue":)") && !answer->body.contains(R"("continue":"")");
  const bool is_complete =
      !goes_on && !request.url.ends_with("?limit=1");  // a request that only reads the version
  if (is_complete) {
    served_ = stage_.truth.changes().size();
    note_told(stage_.kube.revision());
  }
  if (stage_.sabotage == Sabotage::kNone) return answer;
  Json list = *parse_json(answer->body);
  for (Json& item : list["items"]) item = bent(item);
  answer->body = dump_json(list);
  return answer;
}

Result<http::ClientResponse> WatchWire::stream(
    const http::ClientRequest& request, std::chrono::milliseconds idle, std::stop_token,
    const std::function<bool(std::string_view)>& on_bytes) {
  note_restore();
  has_listed_ = false;
  if (is_dead()) return no_answer(idle);
  const Fault fault = draw_fault();
  if (fault == Fault::kRefused) return refusal(429, "TooManyRequests");
  if (fault == Fault::kGone) return refusal(410, "Expired");
  const auto since = parse_integer<Version>(query_value_of(request.url, "resourceVersion"));
  return tell_changes(*since, fault, on_bytes);
}

// The watch then ends in good order, and the next one continues from its last bookmark.
Result<http::ClientResponse> WatchWire::tell_changes(
    Version since, Fault fault, const std::function<bool(std::string_view)>& on_bytes) {
  http::ClientResponse answer;
  answer.status = 200;
  if (stage_.is_off(Sabotage::kWatchVersion)) since = stage_.kube.revision();
  // The server waits for versions that the restored store has not reached again.
  if (since > stage_.kube.revision()) {
    stage_.clock.advance(std::chrono::seconds(1));
    return answer;
  }
  const auto news = stage_.kube.changes_since(collection(), since);
  if (news.forgotten) {
    (void)on_bytes(line("ERROR", *parse_json(refusal(410, "Expired").body)));
    return answer;
  }
  for (const fakes::ChangePtr& change : news.changes) {
    if (change->revision > served()) break;
    const bool is_lost =
        change->kind == fakes::ChangeKind::kDeleted && stage_.is_off(Sabotage::kDeletions);
    const std::string event = is_lost ? std::string() : line(type_of(*change), bent(*change->now));
    const std::string_view text = event;
    (void)on_bytes(text.substr(0, text.size() / 2));
    if (fault == Fault::kCut) return fail(ErrorKind::kUnavailable, "the connection was cut");
    (void)on_bytes(text.substr(text.size() / 2));
    note_told(change->revision);
  }
  note_told(served());
  (void)on_bytes(line(
      "BOOKMARK", {{"kind", kind_ == Resource::kNode ? "Node" : "Remediation"},
                   {"metadata", {{"resourceVersion", std::to_string(std::max(since, told_))}}}}));
  return answer;
}

}  // namespace gpuward::remediator::simulation
