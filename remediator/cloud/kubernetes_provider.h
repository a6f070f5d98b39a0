// Machines that an object in this cluster owns: deleting that object makes its controller end the
// machine, and the object stays until the machine is gone (its finalizer). The provider deletes it
// only while it names the instance that the node runs on, never by name alone.
#pragma once

#include "remediator/cloud/provider.h"

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
  // kNotFound: there is no such object, though the cluster knows its kind.
  [[nodiscard]] Result<Found> find(const Machine& machine);

  kube::Api& api_;
};

}  // namespace gpuward::remediator
