#include "remediator/cluster/silent_nodes.h"

#include <algorithm>
#include <utility>

#include "remediator/policy/budget_limits.h"

namespace gpuward::remediator {
namespace {

// The scopes as words, since messages to people contain them.
std::vector<std::string> scopes_of(const Place& place) {
  std::vector<std::string> scopes = {"the fleet"};
  if (!place.pool.empty()) scopes.push_back("pool " + place.pool);
  if (!place.zone.empty()) scopes.push_back("zone " + place.zone);
  for (const auto& [label, value] : place.domains) scopes.push_back(label + "=" + value);
  return scopes;
}

// Returns whether one network failure may affect both, judged by the zones and domains that both
// have.
bool are_near(const Place& one, const Place& other) {
  const bool has_zones = !one.zone.empty() && !other.zone.empty();
  if (has_zones && one.zone != other.zone) return false;
  return std::ranges::all_of(one.domains, [&](const auto& domain) {
    const auto found = other.domains.find(domain.first);
    return found == other.domains.end() || found->second == domain.second;
  });
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
    if (is_silent && node.since && node.has_gpus) begun_.push_back(*node.since);
    if (is_silent && node.since && !node.has_gpus) others_.push_back({*node.since, node.place});
    const auto note = [&](Count& count) {
      ++count.all;
      if (is_silent) ++count.silent;
    };
    for (const std::string& scope : scopes_of(node.place)) {
      note(all_nodes_[scope]);
      if (node.has_gpus) note(gpu_nodes_[scope]);
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
  if (!node.has_gpus) return node.since && now_ - *node.since <= kKnownDead;
  return !(node.is_recorded && node.since && now_ - *node.since > after);
}

std::optional<SilentObjection> SilentNodes::objection_of(const Counts& counts,
                                                         const std::string& scope,
                                                         std::string_view kind) const {
  const auto found = counts.find(scope);
  if (found == counts.end()) return std::nullopt;
  const auto& [silent, all] = found->second;
  if (silent <= static_cast<std::size_t>(at_most(rules_.at_most, all))) return std::nullopt;
  return SilentObjection{kSilentShareRule, std::to_string(silent) + " of " + std::to_string(all) +
                                               " " + std::string(kind) + " of " + scope +
                                               " are silent: this looks like a network partition"};
}

std::optional<SilentObjection> SilentNodes::objection(const NodeSign& node) const {
  for (const std::string& scope : scopes_of(node.place)) {
    if (auto why = objection_of(gpu_nodes_, scope, "GPU nodes")) return why;
    if (auto why = objection_of(all_nodes_, scope, "nodes")) return why;
  }
  if (!node.since) return std::nullopt;
  const auto first = std::ranges::lower_bound(begun_, *node.since - kTogether);
  const auto last = std::ranges::upper_bound(begun_, *node.since + kTogether);
  // The node's own silence is among them if it counts.
  const auto others = (last - first) - (counts(node) ? 1 : 0);
  const auto without_gpus = std::ranges::count_if(others_, [&](const Silence& other) {
    return std::chrono::abs(other.since - *node.since) <= kTogether &&
           are_near(other.place, node.place);
  });
  if (others + without_gpus <= 0) return std::nullopt;
  return SilentObjection{kSilentTogetherRule,
                         std::to_string(others + without_gpus) +
                             (others + without_gpus == 1 ? " other node" : " other nodes") +
                             " fell silent at the same time: this looks like a network partition"};
}

}  // namespace gpuward::remediator
