// Machines of whoever has a program that can restart or end them: IPMI, Redfish, a cloud that
// gpuward does not know. The program gets the machine as one JSON object on its stdin:
//
//   {"action":"reboot","remediation":"...","node":"...","nodeUID":"...","providerID":"...",
//    "bootID":"...","labels":{...}}
//
// and answers with its exit code: 0 = the action ("reboot", "terminate") is asked for; anything
// else = it is not, and the first line of stderr says why. For "is-gone", which may be asked often,
// 0 = the machine is gone for good, 1 = it is not, anything else = it cannot tell. A program that
// does not end in time is killed, and nobody knows.
// For "power-state" it exits with 0 and says one word on its stdout: `on`, `off`, or `unreachable`
// where what controls the power (a BMC) does not answer. Whatever else it does says nothing.
#pragma once

#include "remediator/cloud/provider.h"

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
