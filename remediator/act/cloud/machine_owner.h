// The object in the cluster that owns the machine of a node. Deleting the object ends the machine,
// and the machine may run as long as the object exists. A bare Node owns no machine: its kubelet
// registers it again, without taints. Used by the step terminate and the kubernetes provider.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/kube/objects.h"

namespace gpuward::remediator {

struct MachineOwner {
  kube::ResourceType type;
  std::string name;

  // Returns text for people: "NodeClaim p5-x7k2" or "Machine fleet/gpu-01".
  [[nodiscard]] std::string words() const;
};

// Returns the owner of the node's machine; nullopt if the node names none. The owner is a NodeClaim
// of Karpenter (the Node's owner reference), or a Machine of Cluster API or of OpenShift
// (annotations that their controllers write). Sources: karpenter
// pkg/controllers/nodeclaim/lifecycle/registration.go; cluster-api api/v1beta1/machine_types.go;
// machine-api-operator pkg/controller/nodelink. Pure.
[[nodiscard]] std::optional<MachineOwner> owner_of(const kube::Node& node);

// Returns the form in the facts of a step: "group/version/plural/namespace/name".
[[nodiscard]] std::string to_string(const MachineOwner& owner);
[[nodiscard]] std::optional<MachineOwner> parse_owner(std::string_view text);

}  // namespace gpuward::remediator
