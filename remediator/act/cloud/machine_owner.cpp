#include "remediator/act/cloud/machine_owner.h"

#include <array>

#include "remediator/model/text_map.h"

namespace gpuward::remediator {
namespace {

constexpr std::string_view kKarpenterGroup = "karpenter.sh";
constexpr std::string_view kClusterApiGroup = "cluster.x-k8s.io";
constexpr std::string_view kOpenShiftGroup = "machine.openshift.io";

std::string annotation(const kube::Node& node, const std::string& key) {
  return value_at(node.meta.annotations, key);
}

MachineOwner machine(std::string_view group, std::string ns, std::string name) {
  return {.type = {std::string(group), "v1beta1", "machines", std::move(ns)},
          .name = std::move(name)};
}

}  // namespace

std::string MachineOwner::words() const {
  const std::string kind = type.group == kKarpenterGroup ? "NodeClaim " : "Machine ";
  return kind + (type.ns.empty() ? "" : type.ns + "/") + name;
}

std::optional<MachineOwner> owner_of(const kube::Node& node) {
  for (const kube::OwnerReference& owner : node.owners) {
    const std::size_t slash = owner.api_version.find('/');
    if (owner.kind != "NodeClaim" || owner.api_version.substr(0, slash) != kKarpenterGroup ||
        slash == std::string::npos) {
      continue;
    }
    return MachineOwner{.type = {std::string(kKarpenterGroup), owner.api_version.substr(slash + 1),
                                 "nodeclaims", ""},
                        .name = owner.name};
  }
  const std::string by_cluster_api = annotation(node, "cluster.x-k8s.io/machine");
  const std::string ns = annotation(node, "cluster.x-k8s.io/cluster-namespace");
  if (!by_cluster_api.empty() && !ns.empty()) return machine(kClusterApiGroup, ns, by_cluster_api);
  const std::string by_openshift = annotation(node, "machine.openshift.io/machine");
  const std::size_t slash = by_openshift.find('/');
  if (slash == std::string::npos || slash == 0 || slash + 1 == by_openshift.size())
    return std::nullopt;
  return machine(kOpenShiftGroup, by_openshift.substr(0, slash), by_openshift.substr(slash + 1));
}

std::string to_string(const MachineOwner& owner) {
  return owner.type.group + "/" + owner.type.version + "/" + owner.type.plural + "/" +
         owner.type.ns + "/" + owner.name;
}

std::optional<MachineOwner> parse_owner(std::string_view text) {
  std::array<std::string, 5> parts;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::size_t slash = text.find('/');
    const bool is_last = i + 1 == parts.size();
    if (is_last != (slash == std::string_view::npos)) return std::nullopt;
    parts[i] = text.substr(0, slash);
    text = is_last ? std::string_view() : text.substr(slash + 1);
  }
  if (parts[0].empty() || parts[2].empty() || parts[4].empty()) return std::nullopt;
  return MachineOwner{.type = {parts[0], parts[1], parts[2], parts[3]}, .name = parts[4]};
}

}  // namespace gpuward::remediator
