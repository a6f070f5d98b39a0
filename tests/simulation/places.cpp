#include "tests/simulation/places.h"

#include <algorithm>
#include <ctime>
#include <map>
#include <ranges>

#include "core/http/syntax/url.h"
#include "core/runtime/text.h"
#include "remediator/policy/loki_rules.h"

namespace gpuward::remediator::simulation {
namespace {

using std::chrono::minutes;
using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr const char* kText =
    "NVRM: Xid (PCI:0000:4e:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.";

std::int64_t nanoseconds_of(WallTime time) { return nanoseconds(time.time_since_epoch()).count(); }

std::string http_date(WallTime time) {
  const std::time_t at = std::chrono::system_clock::to_time_t(time);
  std::tm parts{};
  ::gmtime_r(&at, &parts);
  std::array<char, 40> text{};
  (void)std::strftime(text.data(), text.size(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
  return text.data();
}

std::int64_t number_in(const std::string& url, const std::string& key) {
  const auto query = http::parse_query(url.substr(url.find('?') + 1));
  return parse_integer<std::int64_t>(http::query_value(query, key)).value_or(0);
}

}  // namespace

std::string fingerprint_of_lines(const std::string& node) {
  return std::string(kLokiOrigin) + short_hash(node + "\nlog xid 79");
}

void AnsweringPlaces::do_something() {
  if (!stage_.setting.places.any()) return;
  begin_trouble();
  if (stage_.setting.places.logs) write_lines();
}

// The machines' kernels write lines; a node agent sends them some time later.
void AnsweringPlaces::write_lines() {
  Chance& chance = stage_.places_chance;
  for (const Machine& machine : fleet_.machines()) {
    if (!machine.works() || machine.fault < Severity::kReset || !chance.happens(0.1)) continue;
    const auto late = chance.happens(0.3) ? chance.span(seconds(0), seconds(100)) : seconds(0);
    lines_.push_back({.at = nanoseconds_of(stage_.true_time()),
                      .visible = stage_.clock.steady() + late,
                      .node = machine.name,
                      .node_uid = stage_.truth.node(machine.name)->node.meta.uid});
    stage_.trace.say(machine.name + "'s kernel writes of a lost GPU");
  }
}

void AnsweringPlaces::begin_trouble() {
  Chance& chance = stage_.places_chance;
  if (!chance.happens(0.05)) return;
  const Clock::Steady now = stage_.clock.steady();
  const auto place = chance.one_of({Place::kPrometheus, Place::kAlertmanager, Place::kLoki});
  Trouble& trouble = trouble_of(place);
  if (trouble.until > now) return;
  trouble.fault =
      chance.one_of({Fault::kSilent, Fault::kRefuses, Fault::kCut, Fault::kEmpty, Fault::kPart});
  trouble.until = now + chance.span(seconds(30), minutes(6));
  if (trouble.fault != Fault::kEmpty) return;
  if (trouble.quiet_until > now || place == Place::kLoki) trouble.fault = Fault::kRefuses;
  // A server that has just started knows nothing for a moment, which is shorter than the product's
  // wait.
  trouble.until = std::min(trouble.until, now + seconds(90));
  trouble.quiet_until = trouble.until + minutes(10);
}

Result<http::ClientResponse> AnsweringPlaces::send(const http::ClientRequest& request) {
  const bool is_loki = request.url.contains("/loki/");
  const bool is_alertmanager = request.url.contains("/api/v2/alerts");
  const Place place = is_loki           ? Place::kLoki
                      : is_alertmanager ? Place::kAlertmanager
                                        : Place::kPrometheus;
  const Trouble& trouble = trouble_of(place);
  const bool has_trouble = !stage_.is_quiet && trouble.until > stage_.clock.steady();
  const Fault fault = has_trouble ? trouble.fault : Fault::kNone;
  http::ClientResponse answer;
  answer.status = 200;
  answer.headers.emplace_back("Date", http_date(stage_.true_time()));
  const bool fails = fault == Fault::kSilent || fault == Fault::kRefuses || fault == Fault::kCut;
  const bool is_taken_for_empty = fails && stage_.is_off(Sabotage::kFailedAnswers);
  if (fault == Fault::kSilent && !is_taken_for_empty) {
    stage_.clock.advance(std::min<std::chrono::milliseconds>(request.timeout, seconds(5)));
    return fail(ErrorKind::kTimeout, "no answer");
  }
  if (fault == Fault::kRefuses && !is_taken_for_empty) {
    answer.status = 503;
    return answer;
  }
  if (fault == Fault::kEmpty || is_taken_for_empty) {
    answer.body = is_alertmanager ? "[]"
                  : is_loki ? R"({"status":"success","data":{"resultType":"streams","result":[]}})"
                            : R"({"status":"success","data":{"result":[]}})";
    return answer;
  }
  const bool asks_all = !request.url.contains("remediation%21%3D");
  answer.body = is_alertmanager ? alerts_in_alertmanager()
                : is_loki       ? lines_in_loki(request.url)
                                : alerts_in_prometheus(asks_all, fault == Fault::kPart);
  if (fault == Fault::kCut) answer.body.resize(answer.body.size() / 2);
  return answer;
}

Result<http::ClientResponse> AnsweringPlaces::stream(const http::ClientRequest&,
                                                     std::chrono::milliseconds, std::stop_token,
                                                     const std::function<bool(std::string_view)>&) {
  return fail(ErrorKind::kInvalid, "nothing is streamed here");
}

std::string AnsweringPlaces::alerts_in_alertmanager() const {
  Json alerts = Json::array();
  for (const Machine& machine : fleet_.machines()) {
    for (const FiringAlert& alert : machine.firing()) {
      const bool is_silenced = stage_.silenced.contains(alert.fingerprint);
      alerts.push_back({{"labels", alert.labels},
                        {"fingerprint", alert.fingerprint},
                        {"startsAt", to_rfc3339_ms(alert.starts_at)},
                        {"status", {{"state", is_silenced ? "suppressed" : "active"}}}});
    }
  }
  return dump_json(alerts);
}

// If a part is missing, the answer has a warning, or alerts without their start.
std::string AnsweringPlaces::alerts_in_prometheus(bool asks_all, bool is_part) const {
  Chance& chance = stage_.places_chance;
  Json samples = Json::array();
  bool is_missing = false;
  const bool has_start = !is_part || chance.happens(0.8);
  for (const Machine& machine : fleet_.machines()) {
    for (const FiringAlert& alert : machine.firing()) {
      if (alert.foreign && !asks_all) continue;
      if (is_part && alert.fingerprint.back() < '8') {  // the same alerts each time
        is_missing = true;
        continue;
      }
      Json labels = alert.labels;
      labels["__name__"] = has_start ? "ALERTS_FOR_STATE" : "ALERTS";
      const auto start = std::chrono::floor<seconds>(alert.starts_at.time_since_epoch());
      samples.push_back(
          {{"metric", labels},
           {"value", Json::array({0, has_start ? std::to_string(start.count()) : "1"})}});
    }
  }
  Json answer = {{"status", "success"}, {"data", {{"result", samples}}}};
  if (is_missing && !stage_.is_off(Sabotage::kPartAnswers))
    answer["warnings"] = Json::array({"a part is missing"});
  return dump_json(answer);
}

std::string AnsweringPlaces::lines_in_loki(const std::string& url) const {
  const std::int64_t start = number_in(url, "start"), end = number_in(url, "end");
  const auto limit = static_cast<std::size_t>(number_in(url, "limit"));
  std::multimap<std::int64_t, const KernelLine*>
      found;  // lines of one moment in the order in which they were written
  for (const KernelLine& line : lines_) {
    const bool is_there = stage_.is_quiet || line.visible <= stage_.clock.steady();
    if (is_there && line.at >= start && line.at < end) found.emplace(line.at, &line);
  }
  Json streams = Json::array();
  for (const auto& [at, line] : found | std::views::take(limit)) {
    streams.push_back({{"stream", {{"k8s_daemonset_name", "dmesg"}, {"k8s_node_name", line->node}}},
                       {"values", Json::array({Json::array({std::to_string(at), kText})})}});
  }
  return dump_json(
      {{"status", "success"}, {"data", {{"resultType", "streams"}, {"result", streams}}}});
}

}  // namespace gpuward::remediator::simulation
