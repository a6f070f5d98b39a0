// The object in the cluster that owns the machine behind a node: deleting it ends the machine, and
// while it exists the machine may still run. A bare Node owns nothing: its kubelet registers it
// again, without taints. Used by the step terminate and the kubernetes provider.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/kube/objects.h"

namespace gpuward::remediator {

struct MachineOwner {
  kube::ResourceType type;
  std::string name;

  // "NodeClaim p5-x7k2" or "Machine fleet/gpu-01", for people.
  [[nodiscard]] std::string words() const;
};

// Returns a NodeClaim of Karpenter (the Node's owner reference), or a Machine of Cluster API or of
// OpenShift (annotations that their controllers write); nullopt if the node names none. Sources:
// karpenter pkg/controllers/nodeclaim/lifecycle/registration.go; cluster-api
// api/v1beta1/machine_types.go; machine-api-operator pkg/controller/nodelink. Pure.
[[nodiscard]] std::optional<MachineOwner> owner_of(const kube::Node& node);

// The form in the facts of a step: "group/version/plural/namespace/name".
[[nodiscard]] std::string to_string(const MachineOwner& owner);
[[nodiscard]] std::optional<MachineOwner> parse_owner(std::string_view text);

}  // namespace gpuward::remediator
