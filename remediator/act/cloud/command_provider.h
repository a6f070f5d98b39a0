// Restarts or ends machines with an operator's program: by IPMI, Redfish, or a cloud that gpuward
// does not support. The program gets the machine as one JSON object on its stdin:
//
// {"action":"reboot","remediation":"...","node":"...","nodeUID":"...","providerID":"...",
// "bootID":"...","labels":{...}}
//
// The program answers with its exit code. For "reboot" and "terminate", 0 means that it has
// requested the action. Any other code means that it has not, and the first line of stderr says
// why. For "is-gone", which may run often, 0 means that the machine is gone and will not return, 1
// that it is not gone, and any other code that the state is unknown. gpuward kills a program that
// exceeds its timeout, and the result is unknown.
//
// For "power-state" the program exits with 0 and prints one word on its stdout: `on`, `off`, or
// `unreachable` if the power controller (a BMC) does not answer. Any other result means unknown.
#pragma once

#include "remediator/act/cloud/provider.h"

namespace gpuward::remediator {

class CommandProvider final : public CloudProvider {
 public:
  explicit CommandProvider(const ProviderParts& parts) : parts_(parts) {}
  [[nodiscard]] bool can(MachineAction action, const Machine& machine) const override;
  [[nodiscard]] Status reboot(const Machine& machine, const Permit& permit) override;
  [[nodiscard]] Status terminate(const Machine& machine, const Permit& permit) override;
  [[nodiscard]] Result<MachineFate> fate(const Machine& machine) override;
  [[nodiscard]] MachineProofs proofs(const Machine& machine) override;

 private:
  struct Ended;
  [[nodiscard]] Result<Ended> run(const std::vector<std::string>& program, std::string_view action,
                                  const Machine& machine);
  [[nodiscard]] Status ask(const std::vector<std::string>& program, std::string_view action,
                           const Machine& machine, const Permit& permit);

  ProviderParts parts_;
};

}  // namespace gpuward::remediator
