#include "exporter/publish/node/claim.h"

#include <algorithm>

#include "core/runtime/clock.h"
#include "core/runtime/json.h"
#include "exporter/publish/node/node_keys.h"

namespace gpuward::exporter {
namespace {

constexpr JsonLimits kClaimLimits{.max_bytes = 1024, .max_depth = 2, .max_values = 16};

// An annotation of ours that cannot be read any more holds nothing either.
bool is_over(const kube::Node& node, std::string_view annotation, kube::WallTime now,
             std::string_view owner) {
  if (!node.meta.annotations.contains(std::string(annotation))) return false;
  const auto claim = claim_on(node, annotation);
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

std::optional<Claim> claim_on(const kube::Node& node, std::string_view annotation) {
  const auto found = node.meta.annotations.find(std::string(annotation));
  if (found == node.meta.annotations.end()) return std::nullopt;
  return parse_claim(found->second);
}

std::optional<std::string> maintenance_of(const kube::Node& node) {
  if (node.meta.labels.contains(std::string(kModeLabel))) return "a quarantine is running on it";
  const bool is_tainted = std::ranges::any_of(
      node.taints, [](const kube::Taint& taint) { return taint.key == kMaintenanceTaintKey; });
  if (is_tainted) return "it is under maintenance";
  return std::nullopt;
}

void release_claims(const kube::Node& node, kube::WallTime now, std::string_view owner,
                    kube::NodeChange& change) {
  if (is_over(node, kMaintenanceClaim, now, owner)) {
    change.remove_taints.push_back(maintenance_taint());
    change.remove_annotations.emplace_back(kMaintenanceClaim);
  }
  if (is_over(node, kQuarantineClaim, now, owner)) {
    change.remove_labels.emplace_back(kModeLabel);
    change.remove_annotations.emplace_back(kQuarantineClaim);
  }
}

}  // namespace gpuward::exporter
