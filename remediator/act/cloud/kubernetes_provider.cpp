#include "remediator/act/cloud/kubernetes_provider.h"

#include <vector>

#include "core/runtime/json.h"

namespace gpuward::remediator {
namespace {

// No object has this label: listing by it only tells whether the cluster knows the kind.
constexpr std::string_view kNothing = "gpuward.dev/none=none";

// The versions that the cluster may serve. A node of Cluster API does not name one.
std::vector<std::string> versions_of(const kube::ResourceType& type) {
  if (type.group == "cluster.x-k8s.io") return {"v1beta2", "v1beta1"};
  return {type.version};
}

// Karpenter writes the provider ID to the status, the others to the spec.
std::string instance_of(const Json& owner) {
  const std::string in_spec = string_at(member_at(owner, "spec"), "providerID");
  return in_spec.empty() ? string_at(member_at(owner, "status"), "providerID") : in_spec;
}

}  // namespace

struct KubernetesProvider::Found {
  kube::ResourceType type;
  std::string uid, instance;
  bool is_deleting = false;
};

bool KubernetesProvider::can(MachineAction action, const Machine& machine) const {
  return action == MachineAction::kTerminate && machine.owner.has_value();
}

Status KubernetesProvider::reboot(const Machine&, const Permit&) {
  return fail(ErrorKind::kRefused, "no controller in the cluster can restart a machine");
}

Result<KubernetesProvider::Found> KubernetesProvider::find(const Machine& machine) {
  kube::ResourceType type = machine.owner->type;
  for (const std::string& version : versions_of(machine.owner->type)) {
    type.version = version;
    auto object = api_.get_custom(type, machine.owner->name);
    if (object) {
      return Found{.type = type,
                   .uid = object->meta.uid,
                   .instance = instance_of(*object->json),
                   .is_deleting = object->meta.deleting};
    }
    if (object.error().kind != ErrorKind::kNotFound)
      return with_context("reading " + machine.owner->words(), object.error());
    // The API server also answers 404 if it does not know the kind, which would prove nothing.
    const auto known = api_.list_custom(type, kNothing);
    if (known) return std::unexpected(object.error());
    if (known.error().kind != ErrorKind::kNotFound)
      return with_context("looking for " + machine.owner->words(), known.error());
  }
  return fail(ErrorKind::kRefused, machine.owner->words() +
                                       " is not in this cluster: the cluster has no resource " +
                                       type.plural + "." + type.group);
}

Status KubernetesProvider::terminate(const Machine& machine, const Permit& permit) {
  const auto found = find(machine);
  if (!found && found.error().kind == ErrorKind::kNotFound) return {};
  if (!found) return std::unexpected(found.error());
  if (found->instance != machine.provider_id) {
    return fail(ErrorKind::kRefused, machine.owner->words() + " owns instance " + found->instance +
                                         ", and the node runs on " + machine.provider_id);
  }
  if (found->is_deleting) return {};
  const auto deleted = api_.delete_custom(found->type, machine.owner->name, found->uid, permit);
  if (deleted || deleted.error().kind == ErrorKind::kNotFound) return {};
  return with_context("deleting " + machine.owner->words(), deleted.error());
}

Result<MachineFate> KubernetesProvider::fate(const Machine& machine) {
  const auto found = find(machine);
  if (!found && found.error().kind == ErrorKind::kNotFound) return Fate::kGone;
  if (!found) return std::unexpected(found.error());
  // The object was recreated under the same name, for another machine.
  if (found->instance != machine.provider_id && !found->instance.empty()) return Fate::kGone;
  return found->is_deleting ? Fate::kEnding : Fate::kRuns;
}

}  // namespace gpuward::remediator
