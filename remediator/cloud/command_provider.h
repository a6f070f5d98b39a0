// Machines of whoever has a program that can restart them: IPMI, Redfish, a cloud that gpuward does
// not know. The program gets the machine as one JSON object on its stdin:
//
//   {"action":"reboot","remediation":"...","node":"...","nodeUID":"...","providerID":"...",
//    "bootID":"...","labels":{...}}
//
// and answers with its exit code: 0 = the restart is asked for; anything else = it is not, and the
// first line of stderr says why. A program that does not end in time is killed, and nobody knows.
#pragma once

#include "remediator/cloud/provider.h"

namespace gpuward::remediator {

class CommandProvider final : public CloudProvider {
 public:
  explicit CommandProvider(const ProviderParts& parts) : parts_(parts) {}
  [[nodiscard]] Status reboot(const Machine& machine) override;

 private:
  ProviderParts parts_;
};

}  // namespace gpuward::remediator
