#include <algorithm>
#include <array>
#include <iterator>
#include <string>

#include "remediator/act/cloud/aws_provider.h"
#include "remediator/act/cloud/command_provider.h"
#include "remediator/act/cloud/kubernetes_provider.h"
#include "remediator/act/cloud/provider.h"

namespace gpuward::remediator {
namespace {

template <typename Provider>
std::unique_ptr<CloudProvider> make(const ProviderParts& parts) {
  return std::make_unique<Provider>(parts);
}

// In order of preference. The owner of a machine in the cluster comes first: if a cloud or a
// program ended the machine behind its back, it would replace the machine or work against it.
constexpr std::array kProviders = {make<KubernetesProvider>, make<AwsProvider>,
                                   make<CommandProvider>};

class AllProviders final : public CloudProvider {
 public:
  explicit AllProviders(const ProviderParts& parts) {
    for (std::size_t i = 0; i < kProviders.size(); ++i) providers_[i] = kProviders[i](parts);
  }
  bool can(MachineAction action, const Machine& machine) const override {
    return find(action, machine) != nullptr;
  }
  Status reboot(const Machine& machine, const Permit& permit) override {
    CloudProvider* const provider = find(MachineAction::kReboot, machine);
    if (provider == nullptr)
      return fail(ErrorKind::kRefused,
                  "machines.reboot is not set, and machines.aws does not restart this machine");
    return provider->reboot(machine, permit);
  }
  Status terminate(const Machine& machine, const Permit& permit) override {
    CloudProvider* const provider = find(MachineAction::kTerminate, machine);
    if (provider == nullptr) return nobody_can();
    return provider->terminate(machine, permit);
  }
  Result<MachineFate> fate(const Machine& machine) override {
    CloudProvider* const provider = find(MachineAction::kTerminate, machine);
    if (provider == nullptr) return nobody_can();
    return provider->fate(machine);
  }
  MachineProofs proofs(const Machine& machine) override {
    MachineProofs all;
    for (const auto& provider : providers_)
      std::ranges::move(provider->proofs(machine), std::back_inserter(all));
    return all;
  }

 private:
  CloudProvider* find(MachineAction action, const Machine& machine) const {
    for (const auto& provider : providers_) {
      if (provider->can(action, machine)) return provider.get();
    }
    return nullptr;
  }
  static std::unexpected<Error> nobody_can() {
    return fail(ErrorKind::kRefused,
                "no NodeClaim or Machine owns the node, machines.aws does not terminate it, and "
                "machines.terminate is not set. gpuward does not delete a Node alone: its kubelet "
                "would register it again");
  }

  std::array<std::unique_ptr<CloudProvider>, kProviders.size()> providers_;
};

}  // namespace

std::unique_ptr<CloudProvider> make_providers(const ProviderParts& parts) {
  return std::make_unique<AllProviders>(parts);
}

}  // namespace gpuward::remediator
