#include "tests/fakes/kube/resource.h"

#include <algorithm>
#include <utility>

namespace gpuward::fakes {
namespace {

constexpr Traits kPlain{.namespaced = true, .unconditional_update = true};
constexpr Traits kCluster{.unconditional_update = true};
constexpr Traits kWorkload{
    .namespaced = true, .has_status = true, .has_generation = true, .unconditional_update = true};

Resource built_in(std::string group, std::string version, std::string plural, std::string kind) {
  Resource resource;
  resource.group = std::move(group);
  resource.version = std::move(version);
  resource.plural = std::move(plural);
  resource.kind = std::move(kind);
  for (const char letter : resource.kind) {
    const bool upper = letter >= 'A' && letter <= 'Z';
    resource.singular += upper ? static_cast<char>(letter - 'A' + 'a') : letter;
  }
  return resource;
}

Resource with(Resource resource, Traits traits, std::vector<std::string> short_names = {}) {
  resource.traits = traits;
  resource.short_names = std::move(short_names);
  return resource;
}

// The properties of each kind, from the strategies of kubernetes/kubernetes pkg/registry.
std::vector<Resource> built_ins() {
  constexpr Traits kNode{.has_status = true, .keeps_status = true, .unconditional_update = true};
  constexpr Traits kNamespace{.has_status = true, .unconditional_update = true};
  constexpr Traits kEvent{
      .namespaced = true, .unconditional_update = true, .create_on_update = true};
  constexpr Traits kLease{.namespaced = true, .create_on_update = true};
  constexpr Traits kBudget{.namespaced = true, .has_status = true, .has_generation = true};
  constexpr Traits kDefinition{.has_status = true, .has_generation = true};
  constexpr Traits kClusterRole{.unconditional_update = true, .create_on_update = true};
  constexpr Traits kRole{
      .namespaced = true, .unconditional_update = true, .create_on_update = true};
  const std::string rbac = "rbac.authorization.k8s.io";
  return {
      with(built_in("", "v1", "nodes", "Node"), kNode, {"no"}),
      with(built_in("", "v1", "namespaces", "Namespace"), kNamespace, {"ns"}),
      with(built_in("", "v1", "pods", "Pod"), kWorkload, {"po"}),
      with(built_in("", "v1", "configmaps", "ConfigMap"), kPlain, {"cm"}),
      with(built_in("", "v1", "secrets", "Secret"), kPlain),
      with(built_in("", "v1", "services", "Service"), kPlain, {"svc"}),
      with(built_in("", "v1", "serviceaccounts", "ServiceAccount"), kPlain, {"sa"}),
      with(built_in("", "v1", "events", "Event"), kEvent, {"ev"}),
      with(built_in("apps", "v1", "daemonsets", "DaemonSet"), kWorkload, {"ds"}),
      with(built_in("apps", "v1", "deployments", "Deployment"), kWorkload, {"deploy"}),
      with(built_in("apps", "v1", "replicasets", "ReplicaSet"), kWorkload, {"rs"}),
      with(built_in("apps", "v1", "statefulsets", "StatefulSet"), kWorkload, {"sts"}),
      with(built_in("batch", "v1", "jobs", "Job"), kWorkload),
      with(built_in("policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget"), kBudget,
           {"pdb"}),
      with(built_in("coordination.k8s.io", "v1", "leases", "Lease"), kLease),
      with(built_in("storage.k8s.io", "v1", "volumeattachments", "VolumeAttachment"), kCluster),
      with(built_in(rbac, "v1", "clusterroles", "ClusterRole"), kClusterRole),
      with(built_in(rbac, "v1", "clusterrolebindings", "ClusterRoleBinding"), kClusterRole),
      with(built_in(rbac, "v1", "roles", "Role"), kRole),
      with(built_in(rbac, "v1", "rolebindings", "RoleBinding"), kRole),
      with(built_in("apiextensions.k8s.io", "v1", "customresourcedefinitions",
                    "CustomResourceDefinition"),
           kDefinition, {"crd", "crds"}),
  };
}

}  // namespace

Registry::Registry() {
  for (Resource& resource : built_ins()) {
    resources_.push_back(std::make_shared<const Resource>(std::move(resource)));
  }
}

ResourcePtr Registry::find(std::string_view group, std::string_view version,
                           std::string_view plural) const {
  const std::lock_guard lock(mutex_);
  for (const ResourcePtr& resource : resources_) {
    if (resource->plural == plural && resource->group == group && resource->version == version) {
      return resource;
    }
  }
  return nullptr;
}

bool Registry::serves(std::string_view group, std::string_view version) const {
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(resources_, [&](const ResourcePtr& resource) {
    return resource->group == group && resource->version == version;
  });
}

std::vector<ResourcePtr> Registry::all() const {
  const std::lock_guard lock(mutex_);
  return resources_;
}

void Registry::define(const std::string& group, const std::string& plural,
                      std::vector<Resource> versions) {
  const std::lock_guard lock(mutex_);
  std::erase_if(resources_, [&](const ResourcePtr& known) {
    return known->custom && known->group == group && known->plural == plural;
  });
  for (Resource& resource : versions) {
    resources_.push_back(std::make_shared<const Resource>(std::move(resource)));
  }
}

}  // namespace gpuward::fakes
