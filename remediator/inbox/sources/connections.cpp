#include "remediator/inbox/sources/connections.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "core/runtime/json.h"

namespace gpuward::remediator {
namespace {

constexpr JsonLimits kLimits{.max_bytes = 1U << 20U, .max_depth = 6};

std::size_t count_at(const Json& object, std::string_view key) {
  const Json& value = member_at(object, key);
  if (!value.is_number_integer() || value < 0) return 0;
  return value.get<std::size_t>();
}

bool flag_at(const Json& object, std::string_view key) {
  const Json& value = member_at(object, key);
  return value.is_boolean() && value.get<bool>();
}

WallTime time_at(const Json& object, std::string_view key) {
  return parse_rfc3339(string_at(object, key)).value_or(WallTime{});
}

Json to_json(const NamedNodes& nodes) { return {{"count", nodes.count}, {"names", nodes.names}}; }

NamedNodes nodes_at(const Json& object, std::string_view key) {
  const Json& value = member_at(object, key);
  NamedNodes nodes;
  const Json& names = member_at(value, "names");
  for (std::size_t i = 0; names.is_array() && i < names.size(); ++i) {
    if (names[i].is_string()) nodes.add(names[i].get_ref<const std::string&>());
  }
  nodes.count = std::max(nodes.count, count_at(value, "count"));
  return nodes;
}

// Each list and each call, once for both directions.
constexpr std::array kCalls = {
    std::pair{std::string_view("called"), &WebhookCalls::any},
    std::pair{std::string_view("heartbeat"), &WebhookCalls::heartbeat},
    std::pair{std::string_view("foreignHeartbeat"), &WebhookCalls::foreign_heartbeat}};
constexpr std::array kLists = {
    std::pair{std::string_view("withoutTarget"), &PrometheusFacts::without_target},
    std::pair{std::string_view("down"), &PrometheusFacts::down},
    std::pair{std::string_view("withoutSeries"), &PrometheusFacts::without_series},
    std::pair{std::string_view("unalerted"), &PrometheusFacts::unalerted},
    std::pair{std::string_view("unrecorded"), &PrometheusFacts::unrecorded}};

Json to_json(const PrometheusFacts& facts) {
  Json json{{"error", facts.error},
            {"targets", facts.targets},
            {"up", facts.up},
            {"unnamed", facts.unnamed},
            {"otherJobs", facts.other_jobs},
            {"readsRemediator", facts.reads_remediator},
            {"heartbeatFires", facts.heartbeat_fires}};
  if (facts.alertmanagers) json["alertmanagers"] = *facts.alertmanagers;
  for (const auto& [key, list] : kLists) json[key] = to_json(facts.*list);
  return json;
}

PrometheusFacts prometheus_of(const Json& json) {
  PrometheusFacts facts{.error = string_at(json, "error"),
                        .targets = count_at(json, "targets"),
                        .up = count_at(json, "up"),
                        .unnamed = count_at(json, "unnamed"),
                        .other_jobs = count_at(json, "otherJobs"),
                        .reads_remediator = flag_at(json, "readsRemediator"),
                        .heartbeat_fires = flag_at(json, "heartbeatFires")};
  if (!member_at(json, "alertmanagers").is_null())
    facts.alertmanagers = count_at(json, "alertmanagers");
  for (const auto& [key, list] : kLists) facts.*list = nodes_at(json, key);
  return facts;
}

template <typename T>
void keep_later(std::optional<T>& kept, const std::optional<T>& other) {
  if (other && (!kept || other->at > kept->at)) kept = other;
}

}  // namespace

void NamedNodes::add(std::string_view name) {
  ++count;
  if (names.size() >= kMostNamed) return;
  const auto place = std::ranges::lower_bound(names, name);
  names.insert(place, std::string(name));
}

bool NamedNodes::has(std::string_view name) const {
  return std::ranges::binary_search(names, name);
}

Json to_json(const Connections& connections) {
  Json json{{"at", to_rfc3339(connections.at)},
            {"replica", connections.replica},
            {"readsAlerts", connections.reads_alerts}};
  for (const auto& [key, call] : kCalls) {
    if (const auto& one = connections.calls.*call)
      json[key] = {
          {"at", to_rfc3339(one->at)}, {"receiver", one->receiver}, {"sender", one->sender}};
  }
  if (const auto& refused = connections.refused)
    json["refused"] = {{"at", to_rfc3339(refused->at)}, {"status", refused->status}};
  if (connections.prometheus) json["prometheus"] = to_json(*connections.prometheus);
  if (connections.alertmanager) json["alertmanager"] = {{"error", connections.alertmanager->error}};
  return json;
}

Connections connections_of(const Json& json) {
  Connections connections{.replica = string_at(json, "replica"),
                          .at = time_at(json, "at"),
                          .reads_alerts = flag_at(json, "readsAlerts")};
  for (const auto& [key, call] : kCalls) {
    const Json& one = member_at(json, key);
    if (one.is_object())
      connections.calls.*call = WebhookCall{.at = time_at(one, "at"),
                                            .receiver = string_at(one, "receiver"),
                                            .sender = string_at(one, "sender")};
  }
  if (const Json& refused = member_at(json, "refused"); refused.is_object())
    connections.refused = {.at = time_at(refused, "at"),
                           .status = static_cast<int>(count_at(refused, "status") % 1000)};
  if (const Json& facts = member_at(json, "prometheus"); facts.is_object())
    connections.prometheus = prometheus_of(facts);
  if (const Json& facts = member_at(json, "alertmanager"); facts.is_object())
    connections.alertmanager = {.error = string_at(facts, "error")};
  return connections;
}

void keep_later_calls(Connections& facts, const Connections& others) {
  for (const auto& [key, call] : kCalls) keep_later(facts.calls.*call, others.calls.*call);
  keep_later(facts.refused, others.refused);
}

std::optional<Connections> newest_of(const std::map<std::string, std::string>& texts,
                                     WallTime now) {
  std::optional<Connections> newest;
  Connections calls;
  const auto rank = [&](const Connections& one) {
    const bool is_fresh = one.at + kFactsLast >= now;
    const bool is_answered = one.prometheus && one.prometheus->error.empty();
    return std::tuple(is_fresh, is_answered, one.at);
  };
  for (const auto& [replica, text] : texts) {
    const auto json = parse_json(text, kLimits);
    if (!json || !json->is_object()) continue;
    Connections one = connections_of(*json);
    if (one.at > now + kClockOff) continue;
    keep_later_calls(calls, one);
    if (!newest || rank(one) > rank(*newest)) newest = std::move(one);
  }
  if (newest) keep_later_calls(*newest, calls);
  return newest;
}

}  // namespace gpuward::remediator
