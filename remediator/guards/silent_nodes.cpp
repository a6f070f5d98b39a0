#include "remediator/guards/silent_nodes.h"

#include <algorithm>
#include <utility>

#include "remediator/policy/budget_limits.h"

namespace gpuward::remediator {
namespace {

// In words: they are part of what people are told.
std::vector<std::string> scopes_of(const Place& place) {
  std::vector<std::string> scopes = {"the fleet"};
  if (!place.pool.empty()) scopes.push_back("pool " + place.pool);
  if (!place.zone.empty()) scopes.push_back("zone " + place.zone);
  for (const auto& [label, value] : place.domains) scopes.push_back(label + "=" + value);
  return scopes;
}

}  // namespace

NodeSign sign_of(const kube::Node& node, Place place) {
  NodeSign sign{.node = node.meta.name, .place = std::move(place), .ready = {}};
  sign.created = node.meta.created;
  sign.address = node.internal_ip;
  sign.is_leaving = node.meta.deleting;
  const auto ready = std::ranges::find(node.conditions, "Ready", &kube::NodeCondition::type);
  if (ready == node.conditions.end()) return sign;
  sign.ready = ready->status;
  sign.since = ready->transition;
  sign.heartbeat = ready->heartbeat;
  return sign;
}

SilentNodes::SilentNodes(std::span<const NodeSign> nodes, const SilentRules& rules,
                         std::chrono::milliseconds newcomer, WallTime now)
    : rules_(rules), newcomer_(newcomer), now_(now) {
  for (const NodeSign& node : nodes) {
    if (is_newcomer(node)) continue;
    const bool is_silent = counts(node);
    if (is_silent && node.since) begun_.push_back(*node.since);
    for (const std::string& scope : scopes_of(node.place)) {
      Count& count = scopes_[scope];
      ++count.all;
      if (is_silent) ++count.silent;
    }
  }
  std::ranges::sort(begun_);
}

bool SilentNodes::is_newcomer(const NodeSign& node) const {
  return node.created && now_ - *node.created < newcomer_;
}

bool SilentNodes::counts(const NodeSign& node) const {
  if (!node.is_silent() || node.is_leaving || node.is_restarting || is_newcomer(node)) return false;
  const auto after = node.waits_for_operator ? kKnownHeld : kKnownDead;
  return !(node.is_recorded && node.since && now_ - *node.since > after);
}

std::optional<SilentObjection> SilentNodes::objection(const NodeSign& node) const {
  for (const std::string& scope : scopes_of(node.place)) {
    const auto found = scopes_.find(scope);
    if (found == scopes_.end()) continue;
    const auto& [silent, all] = found->second;
    if (silent <= static_cast<std::size_t>(at_most(rules_.at_most, all))) continue;
    return SilentObjection{kSilentShareRule, std::to_string(silent) + " of " + std::to_string(all) +
                                                 " GPU nodes of " + scope +
                                                 " are silent: that looks like a partition"};
  }
  if (!node.since) return std::nullopt;
  const auto first = std::ranges::lower_bound(begun_, *node.since - kTogether);
  const auto last = std::ranges::upper_bound(begun_, *node.since + kTogether);
  // Its own is one of them, where it counts.
  const auto others = (last - first) - (counts(node) ? 1 : 0);
  if (others <= 0) return std::nullopt;
  return SilentObjection{kSilentTogetherRule, "the silence of " + std::to_string(others) +
                                                  " other GPU nodes began at the same time: that "
                                                  "looks like a partition"};
}

}  // namespace gpuward::remediator
