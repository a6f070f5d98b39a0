#include "remediator/commands/excluded.h"

#include <algorithm>

#include "core/runtime/yaml.h"
#include "remediator/model/fleet.h"

namespace gpuward::remediator {
namespace {

constexpr std::string_view kPolicyMap = "gpuward-remediator";

}  // namespace

Result<Policy> read_cluster_policy(kube::Api& api, const std::string& ns) {
  const auto config_map = api.get_config_map(ns, kPolicyMap);
  if (!config_map) return std::unexpected(config_map.error());
  const auto text = config_map->data.find("policy.yaml");
  if (text == config_map->data.end())
    return fail(ErrorKind::kNotFound,
                "ConfigMap " + ns + "/" + std::string(kPolicyMap) + " has no key policy.yaml");
  const auto file = YamlFile::parse(text->second, "policy.yaml");
  if (!file) return std::unexpected(file.error());
  return read_policy(*file);
}

Excluded excluded_now(const ExclusionList& list, std::span<const kube::Node> nodes,
                      const Policy& policy, WallTime now) {
  Excluded excluded;
  for (const auto& [name, exclusion] : without_expired(list, now))
    excluded.emplace_back(name, exclusion);
  for (const kube::Node& node : nodes) {
    const auto why = exclusion_of(policy, node);
    const bool is_shown =
        is_gpu_node(node) || node.meta.labels.contains(std::string(kManagedLabel));
    if (why && is_shown) {
      excluded.emplace_back(
          node.meta.name,
          Exclusion{.since = {}, .until = WallTime::max(), .reason = *why, .by = {}});
    }
  }
  // A node may be there twice: what ends first comes first.
  std::ranges::sort(excluded, {}, [](const Excluded::value_type& one) {
    return std::pair(one.first, one.second.until);
  });
  return excluded;
}

}  // namespace gpuward::remediator
