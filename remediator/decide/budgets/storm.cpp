#include "remediator/decide/budgets/storm.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

namespace gpuward::remediator {
namespace {

using Onset = std::pair<WallTime, std::string_view>;  // when, on which node

std::vector<Onset> onsets_of(const Fleet& fleet, std::string_view code) {
  std::vector<Onset> onsets;
  for (const auto& [uid, node] : fleet.nodes) {
    for (const FleetAlert& alert : node.alerts) {
      if (alert.code == code) onsets.emplace_back(alert.since, uid);
    }
  }
  std::ranges::sort(onsets);
  return onsets;
}

// The most nodes within one window; a node with several alerts of the code counts once.
int most_within(const std::vector<Onset>& onsets, std::chrono::milliseconds window) {
  std::map<std::string_view, int> inside;
  std::size_t most = 0;
  auto oldest = onsets.begin();
  for (const Onset& onset : onsets) {
    ++inside[onset.second];
    for (; onset.first - oldest->first > window; ++oldest) {
      if (--inside[oldest->second] == 0) inside.erase(oldest->second);
    }
    most = std::max(most, inside.size());
  }
  return static_cast<int>(most);
}

}  // namespace

std::string Storm::message() const {
  return code + " fired on " + std::to_string(nodes) +
         " nodes at once (alert storm: " + std::to_string(trigger) +
         " or more): gpuward starts no step for it until the storm ends";
}

std::optional<Storm> storm_of(const Fleet& fleet, const BudgetLimits& limits,
                              std::string_view code) {
  const std::vector<Onset> onsets = onsets_of(fleet, code);
  const int trigger = at_most(limits.storm.share, fleet.nodes.size());
  if (std::ssize(onsets) < trigger) return std::nullopt;
  const int nodes = most_within(onsets, limits.storm.window);
  if (nodes == 0 || nodes < trigger) return std::nullopt;
  return Storm{std::string(code), nodes, trigger};
}

std::optional<Storm> storm_over(const Fleet& fleet, const BudgetLimits& limits,
                                std::string_view node_uid) {
  const FleetNode* node = fleet.find(node_uid);
  if (node == nullptr) return std::nullopt;
  for (const FleetAlert& alert : node->alerts) {
    if (auto storm = storm_of(fleet, limits, alert.code)) return storm;
  }
  return std::nullopt;
}

std::optional<Storm> storm_behind(const Fleet& fleet, const BudgetLimits& limits,
                                  std::string_view node_uid) {
  const FleetNode* node = fleet.find(node_uid);
  if (node == nullptr) return std::nullopt;
  const auto is_reason = [](const FleetAlert& alert) { return alert.severity >= Severity::kReset; };
  const bool has_reason = std::ranges::any_of(node->alerts, is_reason);
  std::optional<Storm> found;
  for (const FleetAlert& alert : node->alerts) {
    if (has_reason && !is_reason(alert)) continue;
    found = storm_of(fleet, limits, alert.code);
    if (!found) return std::nullopt;
  }
  return found;
}

}  // namespace gpuward::remediator
