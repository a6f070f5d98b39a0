#include "remediator/inbox/connection_watch.h"

#include <algorithm>
#include <utility>

#include "core/runtime/json.h"
#include "remediator/cluster/view_queries.h"
#include "remediator/model/fleet.h"

namespace gpuward::remediator {
namespace {

constexpr std::chrono::seconds kFirstLook{2};
constexpr std::chrono::seconds kLookEvery{20};
// Changes are written at once; changes of times alone this often.
constexpr std::chrono::seconds kWriteEvery{60};
// An entry is removed this long after the last sign of its replica.
constexpr std::chrono::hours kKeptAfterEnd{1};
constexpr std::size_t kMostEntries = 8;
// Longer than a node takes to boot and start its exporter, as in the alert GpuExporterDown.
constexpr std::chrono::minutes kWithoutExporter{15};
constexpr int kMostTries = 3;

// Returns the nodes with firing alerts in a Remediation of their current machine.
std::set<std::string> recorded_nodes(const ClusterView& view) {
  std::set<std::string> nodes;
  for_each_remediation(view, [&](const Remediation& one) {
    const Phase phase = one.status.phase;
    const bool is_of_past = phase == Phase::kSuperseded || phase == Phase::kReplaced;
    if (one.any_firing() && !is_of_past) nodes.insert(one.node);
  });
  return nodes;
}

// Returns the facts whose change is worth an immediate write.
std::string without_times(const Connections& facts) {
  Json json = to_json(facts);
  json.erase("at");
  for (const char* call : {"called", "heartbeat", "foreignHeartbeat", "refused"}) {
    if (json.contains(call)) json[call].erase("at");
  }
  if (json.contains("prometheus")) {
    for (const char* count : {"targets", "up"}) json["prometheus"].erase(count);
  }
  return dump_json(json);
}

std::optional<Connections> parse_entry(const std::string& text) {
  const auto json = parse_json(text);
  return json ? std::optional(connections_of(*json)) : std::nullopt;
}

// Drops entries of ended replicas and of clocks that were ahead, and all but the newest.
void drop_old_entries(std::map<std::string, std::string>& entries, WallTime now) {
  std::multimap<WallTime, std::string> by_time;
  for (const auto& [replica, text] : entries) {
    const auto facts = parse_entry(text);
    const bool is_old =
        !facts || facts->at + kKeptAfterEnd < now || facts->at > now + kKeptAfterEnd;
    by_time.emplace(is_old ? WallTime::min() : facts->at, replica);
  }
  for (const auto& [at, replica] : by_time) {
    const bool is_one_too_many = entries.size() >= kMostEntries;
    if (at == WallTime::min() || is_one_too_many) entries.erase(replica);
  }
}

}  // namespace

void ConnectionWatch::start() {
  thread_ = std::jthread([this](const std::stop_token& stop) {
    for (auto wait = kFirstLook; parts_.clock.sleep_for(wait, stop); wait = kLookEvery) {
      const auto looked = look();
      const std::string error = looked ? std::string() : looked.error().message;
      if (!error.empty() && error != said_)
        parts_.log.warn("Failed to publish the source connections for gpuwardctl",
                        {{"error", error}});
      said_ = error;
    }
  });
}

void ConnectionWatch::note_answer(int status) {
  if (status != 401 && status != 403) return;
  const std::lock_guard lock(mutex_);
  refused_ = {.at = parts_.clock.wall(), .status = status};
}

Status ConnectionWatch::look() {
  if (!parts_.view.informers().synced()) return {};
  Connections facts{.replica = parts_.replica, .reads_alerts = parts_.reads_alerts};
  std::set<std::string> silenced;
  if (parts_.probe.has_alertmanager()) {
    auto answer = parts_.probe.ask_alertmanager();
    facts.alertmanager = {.error = answer ? std::string() : answer.error().message};
    if (answer) silenced = *std::move(answer);
  }
  facts.prometheus = ask_prometheus(silenced);
  facts.calls = parts_.calls();
  facts.at = parts_.clock.wall();
  {
    const std::lock_guard lock(mutex_);
    facts.refused = refused_;
  }
  return publish(facts);
}

std::optional<PrometheusFacts> ConnectionWatch::ask_prometheus(
    const std::set<std::string>& silenced) {
  if (!parts_.probe.has_prometheus()) return std::nullopt;
  PrometheusFacts facts;
  const auto answer = parts_.probe.ask_prometheus();
  if (!answer) {
    facts.error = answer.error().message;
    return settled(std::move(facts));
  }
  facts.alertmanagers = parts_.probe.ask_for_alertmanagers();
  judge(*answer, silenced, facts);
  return settled(std::move(facts));
}

PrometheusFacts ConnectionWatch::settled(PrometheusFacts facts) {
  const auto now = parts_.clock.steady();
  const bool is_good = facts.error.empty() && facts.targets > 0 && facts.heartbeat_fires;
  if (is_good) {
    last_good_ = facts;
    good_at_ = now;
    return facts;
  }
  return last_good_ && now - good_at_ < parts_.lasting ? *last_good_ : facts;
}

void ConnectionWatch::judge(const FleetSeries& series, const std::set<std::string>& silenced,
                            PrometheusFacts& facts) {
  facts.unnamed = series.unnamed;
  facts.other_jobs = series.other_jobs;
  facts.reads_remediator = series.reads_remediator;
  facts.heartbeat_fires = series.heartbeat_fires;
  std::set<std::string> without_target, down, without_series, unalerted, unrecorded;
  const auto recorded = recorded_nodes(parts_.view);
  const auto in_repair = nodes_with_open(parts_.view);
  const auto policy = parts_.policy.get();
  static const NodeSeries kNone;
  for (const auto& node : nodes_since(parts_.view, WallTime::min())) {
    const std::string& name = node->meta.name;
    const auto found = series.nodes.find(name);
    const NodeSeries& one = found == series.nodes.end() ? kNone : found->second;
    if (one.has_target) ++facts.targets;
    if (one.is_up) ++facts.up;
    if (!is_gpu_node(*node) || node->meta.deleting) continue;
    if (one.severity >= Severity::kReset && !one.has_alert) unalerted.insert(name);
    if (one.has_alert && !recorded.contains(name) && !silenced.contains(name))
      unrecorded.insert(name);
    const bool is_away = !kube::is_ready(*node) || std::ranges::binary_search(in_repair, name);
    if (is_away || exclusion_of(*policy, *node)) continue;
    if (!one.has_target) {
      without_target.insert(name);
    } else if (!one.is_up) {
      down.insert(name);
    } else if (one.lacks_series) {
      without_series.insert(name);
    }
  }
  facts.without_target = lasting(without_target, without_target_, kWithoutExporter);
  facts.down = lasting(down, down_, kWithoutExporter);
  facts.without_series = lasting(without_series, without_series_, kWithoutExporter);
  facts.unalerted = lasting(unalerted, unalerted_, parts_.lasting);
  facts.unrecorded = lasting(unrecorded, unrecorded_, parts_.lasting);
}

NamedNodes ConnectionWatch::lasting(const std::set<std::string>& nodes, Since& since,
                                    std::chrono::milliseconds for_time) const {
  std::erase_if(since, [&](const auto& known) { return !nodes.contains(known.first); });
  NamedNodes named;
  const auto now = parts_.clock.steady();
  for (const std::string& node : nodes) {
    const auto begun = since.emplace(node, now).first->second;
    if (now - begun >= for_time) named.add(node);
  }
  return named;
}

Status ConnectionWatch::publish(const Connections& facts) {
  std::string text = without_times(facts);
  const auto now = parts_.clock.steady();
  if (text == written_ && now < write_again_) return {};
  Status written;
  for (int i = 0; i < kMostTries; ++i) {
    written = write(facts);
    const bool was_slower = !written && (written.error().kind == ErrorKind::kConflict ||
                                         written.error().kind == ErrorKind::kAlreadyExists);
    if (!was_slower) break;
  }
  if (!written)
    return with_context("writing ConfigMap " + std::string(kSourcesMap), written.error());
  written_ = std::move(text);
  write_again_ = now + kWriteEvery;
  return {};
}

// A container that restarts has the same name and continues the calls of the last one.
Status ConnectionWatch::write(Connections facts) {
  auto map = parts_.api.get_config_map(parts_.state_namespace, kSourcesMap);
  const bool is_new = !map && map.error().kind == ErrorKind::kNotFound;
  if (!map && !is_new) return std::unexpected(map.error());
  kube::ConfigMap next = is_new ? kube::ConfigMap() : *std::move(map);
  next.meta.ns = parts_.state_namespace;
  next.meta.name = kSourcesMap;
  const auto own = next.data.find(parts_.replica);
  if (own != next.data.end()) {
    const auto before = parse_entry(own->second);
    if (before && before->at <= facts.at) keep_later_calls(facts, *before);
    next.data.erase(own);
  }
  drop_old_entries(next.data, facts.at);
  next.data[parts_.replica] = dump_json(to_json(facts));
  const auto written =
      is_new ? parts_.api.create_config_map(next) : parts_.api.update_config_map(next);
  return written ? Status() : std::unexpected(written.error());
}

}  // namespace gpuward::remediator
