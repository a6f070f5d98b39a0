#include "remediator/tell/texts/excluded.h"

#include <algorithm>
#include <map>

#include "core/runtime/yaml.h"
#include "remediator/cluster/exclusion_store.h"
#include "remediator/model/fleet.h"

namespace gpuward::remediator {
namespace {

constexpr std::string_view kPolicyMap = "gpuward-remediator";

// Adds each node once, as far as the nodes could be read.
Status add_nodes_that_may_be_excluded(const Policy& policy, kube::Api& api,
                                      std::vector<kube::Node>& nodes) {
  std::map<std::string, kube::Node> found;
  Status outcome;
  std::vector<std::string> selectors = policy.excluded.labels;
  selectors.push_back(std::string(kManagedLabel) + "=false");
  for (const std::string& selector : selectors) {
    const auto some = api.list_nodes(selector);
    if (!some) outcome = std::unexpected(some.error());
    for (const kube::Node& node : some.value_or(std::vector<kube::Node>()))
      found.emplace(node.meta.name, node);
  }
  for (const std::string& name : policy.excluded.nodes) {
    const auto node = api.get_node(name);
    if (node) found.emplace(name, *node);
    if (!node && node.error().kind != ErrorKind::kNotFound) outcome = std::unexpected(node.error());
  }
  for (auto& [name, node] : found) nodes.push_back(std::move(node));
  return outcome;
}

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
  // A node may be listed twice: the exclusion that ends first comes first.
  std::ranges::sort(excluded, {}, [](const Excluded::value_type& one) {
    return std::pair(one.first, one.second.until);
  });
  return excluded;
}

ExcludedReading read_excluded(const std::string& ns, kube::Api& api, Clock& clock) {
  ExcludedReading reading;
  const auto list = ExclusionStore(api, ns, clock).read();
  if (!list) reading.unknown.push_back("exclusions: " + list.error().message);
  const Policy policy = read_cluster_policy(api, ns).value_or(Policy());
  std::vector<kube::Node> nodes;
  if (const auto read = add_nodes_that_may_be_excluded(policy, api, nodes); !read)
    reading.unknown.push_back("labels of nodes: " + read.error().message);
  reading.excluded = excluded_now(list.value_or(ExclusionList()), nodes, policy, clock.wall());
  return reading;
}

}  // namespace gpuward::remediator
