#include "exporter/publish/node/claim.h"

#include <algorithm>
#include <utility>

#include "core/runtime/clock.h"
#include "core/runtime/json.h"
#include "exporter/publish/node/node_keys.h"

namespace gpuward::exporter {
namespace {

constexpr JsonLimits kClaimLimits{.max_bytes = 1024, .max_depth = 2, .max_values = 16};

// A claim of gpuward that cannot be parsed is over too.
bool is_over(const kube::Node& node, const std::string& annotation, kube::WallTime now,
             std::string_view owner) {
  const auto found = node.meta.annotations.find(annotation);
  if (found == node.meta.annotations.end()) return false;
  const auto claim = parse_claim(found->second);
  return !claim || claim->expires <= now || (!owner.empty() && claim->owner == owner);
}

}  // namespace

std::string render_claim(const Claim& claim) {
  return dump_json({{"owner", claim.owner}, {"expires", to_rfc3339(claim.expires)}});
}

std::optional<Claim> parse_claim(std::string_view annotation) {
  const auto json = parse_json(annotation, kClaimLimits);
  if (!json) return std::nullopt;
  const auto expires = parse_rfc3339(string_at(*json, "expires"));
  if (!expires) return std::nullopt;
  return Claim{string_at(*json, "owner"), *expires};
}

std::optional<Claim> claim_on(const kube::Node& node, NodeName name) {
  std::optional<Claim> longest;
  for (const NodeNames& names : kAllNodeNames) {
    const auto found = node.meta.annotations.find(names(name));
    if (found == node.meta.annotations.end()) continue;
    auto claim = parse_claim(found->second);
    if (claim && (!longest || claim->expires > longest->expires)) longest = std::move(claim);
  }
  return longest;
}

std::optional<std::string> maintenance_of(const kube::Node& node) {
  const bool has_mode = std::ranges::any_of(node.meta.labels, [](const auto& label) {
    return is_node_key(label.first, NodeName::kMode);
  });
  if (has_mode) return "a quarantine is running on it";
  const bool is_tainted = std::ranges::any_of(node.taints, [](const kube::Taint& taint) {
    return is_node_key(taint.key, NodeName::kMaintenance);
  });
  if (is_tainted) return "it is under maintenance";
  return std::nullopt;
}

void release_claims(const kube::Node& node, kube::WallTime now, std::string_view owner,
                    kube::NodeChange& change) {
  for (const NodeNames& names : kAllNodeNames) {
    const std::string maintenance = names(NodeName::kMaintenanceClaim);
    const std::string quarantine = names(NodeName::kQuarantineClaim);
    if (is_over(node, maintenance, now, owner)) {
      change.remove_taints.push_back(maintenance_taint(names));
      change.remove_annotations.push_back(maintenance);
    }
    if (is_over(node, quarantine, now, owner)) {
      change.remove_labels.push_back(names(NodeName::kMode));
      change.remove_annotations.push_back(quarantine);
    }
  }
}

}  // namespace gpuward::exporter
