// Who can restart a machine: a cloud, or a program of the operator's. One file a provider, all in
// all.cpp. Used by the actions; a provider decides nothing.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "core/kube/objects.h"
#include "core/model/result.h"
#include "core/runtime/clock.h"
#include "remediator/policy/current_policy.h"

namespace gpuward::remediator {

// The machine behind a node, as it was when the step was intended.
struct Machine {
  std::string remediation;  // its name: the same for every call of one step
  std::string node, node_uid;
  std::string provider_id;  // spec.providerID; empty where the node has none
  std::string boot_id;
  kube::Labels labels;
};

// Any thread.
class CloudProvider {
 public:
  virtual ~CloudProvider() = default;
  // Asks for a restart and returns once that is accepted; it is called at most once a step.
  // kTimeout and kUnavailable: nobody knows whether it was accepted. Every other error: it was not.
  [[nodiscard]] virtual Status reboot(const Machine& machine) = 0;
};

struct ProviderParts {
  const CurrentPolicy& policy;  // settings are read at every call: they may change
  Clock& clock;
};

// The provider of that name in the policy; null where there is none.
[[nodiscard]] std::unique_ptr<CloudProvider> make_provider(std::string_view name,
                                                           const ProviderParts& parts);

}  // namespace gpuward::remediator
