// Ends machines that an object in this cluster owns. Deleting that object makes its controller end
// the machine, and a finalizer keeps the object until the machine is gone. The provider deletes the
// object only while it names the instance of the node, never by name alone.
#pragma once

#include "remediator/act/cloud/provider.h"

namespace gpuward::remediator {

class KubernetesProvider final : public CloudProvider {
 public:
  explicit KubernetesProvider(const ProviderParts& parts) : api_(parts.api) {}
  [[nodiscard]] bool can(MachineAction action, const Machine& machine) const override;
  [[nodiscard]] Status reboot(const Machine& machine, const Permit& permit) override;
  [[nodiscard]] Status terminate(const Machine& machine, const Permit& permit) override;
  [[nodiscard]] Result<MachineFate> fate(const Machine& machine) override;

 private:
  struct Found;
  // Returns kNotFound if there is no such object although the cluster knows its kind.
  [[nodiscard]] Result<Found> find(const Machine& machine);

  kube::Api& api_;
};

}  // namespace gpuward::remediator
