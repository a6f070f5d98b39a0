#include "remediator/page/connection_watch.h"

#include <utility>

#include "core/runtime/json.h"
#include "remediator/model/fleet.h"
#include "remediator/records/view_queries.h"

namespace gpuward::remediator {
namespace {

constexpr std::chrono::seconds kFirstLook{2};
constexpr std::chrono::seconds kLookEvery{20};
// A change is written at once; the times alone as often as that.
constexpr std::chrono::seconds kWriteEvery{60};
// The entry of a replica that has ended goes after that.
constexpr std::chrono::hours kKeptAfterEnd{1};
// Longer than rules, notifications and scrapes take.
constexpr std::chrono::minutes kLasting{3};
// How long a node may take to run its exporter.
constexpr std::chrono::minutes kNewNode{5};
constexpr int kMostTries = 3;

std::set<std::string> recorded_nodes(const ClusterView& view) {
  std::set<std::string> nodes;
  for_each_remediation(view, [&](const Remediation& one) {
    if (one.any_firing()) nodes.insert(one.node);
  });
  return nodes;
}

// What is worth a write at once.
std::string without_times(const Connections& facts) {
  Json json = to_json(facts);
  json.erase("at");
  if (json.contains("called")) json["called"].erase("at");
  if (json.contains("refused")) json["refused"].erase("at");
  return dump_json(json);
}

bool is_of_past_replica(const std::string& text, WallTime now) {
  const auto json = parse_json(text);
  return !json || connections_of(*json).at + kKeptAfterEnd < now;
}

}  // namespace

void ConnectionWatch::start() {
  thread_ = std::jthread([this](const std::stop_token& stop) {
    for (auto wait = kFirstLook; parts_.clock.sleep_for(wait, stop); wait = kLookEvery) {
      const auto looked = look();
      const std::string error = looked ? std::string() : looked.error().message;
      if (!error.empty() && error != said_)
        parts_.log.warn("gpuwardctl cannot see the sources", {{"error", error}});
      said_ = error;
    }
  });
}

void ConnectionWatch::note_answer(int status) {
  if (status < 400) return;
  const std::lock_guard lock(mutex_);
  refused_ = {.at = parts_.clock.wall(), .status = status};
}

Status ConnectionWatch::look() {
  Connections facts{.replica = parts_.replica, .reads_alerts = parts_.reads_alerts};
  facts.prometheus = ask_prometheus();
  if (parts_.probe.has_alertmanager()) {
    const auto answered = parts_.probe.ask_alertmanager();
    facts.alertmanager = {.error = answered ? std::string() : answered.error().message};
  }
  facts.called = parts_.last_call();
  facts.at = parts_.clock.wall();
  {
    const std::lock_guard lock(mutex_);
    facts.refused = refused_;
  }
  return publish(facts);
}

std::optional<PrometheusFacts> ConnectionWatch::ask_prometheus() {
  if (!parts_.probe.has_prometheus()) return std::nullopt;
  PrometheusFacts facts;
  const auto answer = parts_.probe.ask_prometheus();
  if (!answer) {
    facts.error = answer.error().message;
    return facts;
  }
  facts.alertmanagers = parts_.probe.ask_for_alertmanagers();
  judge(*answer, facts);
  return facts;
}

void ConnectionWatch::judge(const FleetSeries& series, PrometheusFacts& facts) {
  facts.unnamed = series.unnamed;
  facts.other_jobs = series.other_jobs;
  facts.reads_remediator = series.reads_remediator;
  facts.heartbeat_fires = series.heartbeat_fires;
  std::set<std::string> unalerted, unrecorded;
  const auto recorded = recorded_nodes(parts_.view);
  for (const auto& [name, node] : series.nodes) {
    if (node.has_target) ++facts.targets;
    if (node.is_up) ++facts.up;
    if (node.lacks_series) facts.without_series.add(name);
    if (node.severity >= Severity::kReset && !node.has_alert) unalerted.insert(name);
    if (node.has_alert && !recorded.contains(name)) unrecorded.insert(name);
  }
  add_lasting(unalerted, unalerted_, facts.unalerted);
  add_lasting(unrecorded, unrecorded_, facts.unrecorded);
  const auto now = parts_.clock.wall();
  for (const auto& node : nodes_since(parts_.view, WallTime::min())) {
    const bool is_new = node->meta.created && now - *node->meta.created < kNewNode;
    if (!is_gpu_node(*node) || node->meta.deleting || is_new) continue;
    const auto found = series.nodes.find(node->meta.name);
    if (found == series.nodes.end() || !found->second.has_target) {
      facts.without_target.add(node->meta.name);
    } else if (!found->second.is_up) {
      facts.down.add(node->meta.name);
    }
  }
}

void ConnectionWatch::add_lasting(const std::set<std::string>& nodes, Since& since,
                                  NamedNodes& lasting) const {
  std::erase_if(since, [&](const auto& known) { return !nodes.contains(known.first); });
  const auto now = parts_.clock.steady();
  for (const std::string& node : nodes) {
    const auto begun = since.emplace(node, now).first->second;
    if (now - begun >= kLasting) lasting.add(node);
  }
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

Status ConnectionWatch::write(const Connections& facts) {
  auto map = parts_.api.get_config_map(parts_.state_namespace, kSourcesMap);
  const bool is_new = !map && map.error().kind == ErrorKind::kNotFound;
  if (!map && !is_new) return std::unexpected(map.error());
  kube::ConfigMap next = is_new ? kube::ConfigMap() : *std::move(map);
  next.meta.ns = parts_.state_namespace;
  next.meta.name = kSourcesMap;
  std::erase_if(next.data,
                [&](const auto& entry) { return is_of_past_replica(entry.second, facts.at); });
  next.data[parts_.replica] = dump_json(to_json(facts));
  const auto written =
      is_new ? parts_.api.create_config_map(next) : parts_.api.update_config_map(next);
  return written ? Status() : std::unexpected(written.error());
}

}  // namespace gpuward::remediator
