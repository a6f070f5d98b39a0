#include "remediator/cli/replay/replay.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "remediator/inbox/sources/alertmanager_alerts.h"

namespace gpuward::remediator {
namespace {

using std::chrono::milliseconds;

struct Dated {
  WallTime at;
  AlertSignal signal;
};

kube::Node made_up(const std::string& name) {
  kube::Node node;
  node.meta.name = name;
  node.resources = {"nvidia.com/gpu"};
  return node;
}

// Processes the alerts in order of time, and checks nodes when they are due.
class Player {
 public:
  explicit Player(Replayer& replayer) : replayer_(replayer) {}

  void play(const std::vector<Dated>& signals, WallTime to) {
    for (auto next = signals.begin(); next != signals.end();) {
      look_until(next->at);
      // All alerts of one moment are added before any decision.
      const WallTime at = next->at;
      std::set<std::string> about;
      for (; next != signals.end() && next->at == at; ++next) {
        replayer_.take(next->signal, at);
        about.insert(next->signal.node);
      }
      for (const std::string& node : about) look(node, at);
    }
    look_until(to);
  }

 private:
  // Up to but excluding that moment.
  void look_until(WallTime end) {
    while (!due_.empty() && due_.begin()->first < end) {
      const auto [at, node] = *due_.begin();
      due_.erase(due_.begin());
      next_.erase(node);
      look(node, at);
    }
  }

  void look(const std::string& node, WallTime now) {
    if (const auto known = next_.find(node); known != next_.end()) {
      due_.erase({known->second, node});
      next_.erase(known);
    }
    if (const auto again = replayer_.look(node, now)) {
      next_[node] = now + *again;
      due_.insert({now + *again, node});
    }
  }

  Replayer& replayer_;
  std::set<std::pair<WallTime, std::string>> due_;
  std::map<std::string, WallTime> next_;
};

struct Sorted {
  std::vector<Dated> signals;
  std::size_t not_for_us = 0;
};

Sorted signals_of(const Policy& policy, const std::vector<AlertEpisode>& history) {
  Sorted sorted;
  AlertRules rules = alert_rules_of(policy);
  rules.kept_by_prometheus = true;
  for (const AlertEpisode& episode : history) {
    const AlertSignals made = to_signals(std::span(&episode.alert, 1), rules);
    if (made.signals.empty()) ++sorted.not_for_us;
    for (const AlertSignal& signal : made.signals) {
      sorted.signals.push_back({.at = episode.starts_at(), .signal = signal});
      AlertSignal end = signal;
      end.firing = false;
      end.ends_at = episode.last;
      sorted.signals.push_back({.at = episode.last + milliseconds(1), .signal = std::move(end)});
    }
  }
  std::ranges::sort(sorted.signals, {}, [](const Dated& one) {
    return std::tuple(one.at, one.signal.firing, std::string_view(one.signal.fingerprint));
  });
  return sorted;
}

WallTime end_of(const std::vector<AlertEpisode>& history) {
  WallTime end{};
  for (const AlertEpisode& episode : history) end = std::max(end, episode.last);
  // The steps that follow from the last alerts get time to finish.
  return end + std::chrono::hours(24);
}

}  // namespace

ReplayResult replay(std::shared_ptr<const Policy> policy, std::vector<kube::Node> nodes,
                    const std::vector<AlertEpisode>& history, const ReplayOptions& options) {
  ReplayResult result;
  result.alerts = history.size();
  const Sorted sorted = signals_of(*policy, history);
  result.not_for_us = sorted.not_for_us;
  if (nodes.empty()) {
    std::set<std::string> names;
    for (const Dated& one : sorted.signals) names.insert(one.signal.node);
    for (const std::string& name : names) nodes.push_back(made_up(name));
    result.made_up_nodes = names.size();
  }
  Replayer replayer(std::move(policy), nodes, options);
  result.nodes = replayer.cluster().size();
  for (const Dated& one : sorted.signals) {
    if (one.signal.firing && !replayer.cluster().find(one.signal.node)) ++result.without_node;
  }
  if (!history.empty()) {
    result.from = history.front().starts_at();
    result.to = end_of(history);
    Player(replayer).play(sorted.signals, result.to);
  }
  result.events = replayer.events();
  return result;
}

}  // namespace gpuward::remediator
