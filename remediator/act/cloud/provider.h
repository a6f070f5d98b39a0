// The providers that can restart or end a machine: an object in the cluster, a cloud, or a program
// of the operator. Each provider has its own file, and all.cpp lists them. The actions use the
// providers and make all decisions.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/aws/client.h"
#include "core/kube/api.h"
#include "core/kube/objects.h"
#include "core/model/permit.h"
#include "core/model/result.h"
#include "core/runtime/clock.h"
#include "remediator/act/cloud/machine_owner.h"
#include "remediator/model/machine_proofs.h"
#include "remediator/policy/current_policy.h"

namespace gpuward::remediator {

// The machine behind a node, as it was when the step was intended.
struct Machine {
  std::string remediation;  // Name of the Remediation; the same for every call of one step.
  std::string node, node_uid;
  std::string provider_id;  // spec.providerID; empty if the node has none.
  std::string boot_id;
  kube::Labels labels;
  std::optional<MachineOwner> owner = {};
};

enum class MachineAction : std::uint8_t { kReboot, kTerminate };
[[nodiscard]] constexpr std::string_view to_string(MachineAction action) {
  return action == MachineAction::kReboot ? "reboot" : "terminate";
}

// The state of a machine that a step terminates.
enum class Fate : std::uint8_t {
  kRuns,    // The provider knows of no request to end the machine.
  kEnding,  // The machine is ending, or the provider cannot tell.
  kGone,    // The machine is proven gone and does not come back.
};

struct MachineFate {
  MachineFate(Fate of_machine, std::string said = {})  // NOLINT(*-explicit-*): most say no more
      : is(of_machine), words(std::move(said)) {}
  [[nodiscard]] bool operator==(Fate other) const { return is == other; }

  Fate is;
  std::string words;  // For kEnding: the reason for the wait, if the provider knows it.
};

// Returns true for an error of reboot() or terminate() after which it is unknown whether the
// provider accepted the request. After any other error the provider did not accept it.
[[nodiscard]] constexpr bool may_have_arrived(ErrorKind kind) {
  return kind == ErrorKind::kTimeout || kind == ErrorKind::kUnavailable;
}

// Returns true if the provider did not accept reboot() or terminate() now but may later: it
// throttled the request, or a query before the request failed for now.
[[nodiscard]] constexpr bool is_not_now(ErrorKind kind) {
  return kind == ErrorKind::kOverloaded || kind == ErrorKind::kBlocked;
}
// Returns true for an error of reboot() that says nothing about the machine. A more severe step
// would not help.
[[nodiscard]] constexpr bool is_of_rights(ErrorKind kind) {
  return kind == ErrorKind::kForbidden || kind == ErrorKind::kUnauthenticated ||
         kind == ErrorKind::kNotFound;
}

// The interface of a provider. Thread-safe. The message of an error says why.
class CloudProvider {
 public:
  virtual ~CloudProvider() = default;
  // Returns whether this provider is responsible for the action on this machine. Pure.
  [[nodiscard]] virtual bool can(MachineAction action, const Machine& machine) const = 0;
  // Requests a restart and returns once the provider has accepted it; called at most once per
  // intent. Calls `permit` right before each request that restarts the machine, after all queries.
  // If `permit` refuses the first request, reboot() returns that error and has done nothing.
  [[nodiscard]] virtual Status reboot(const Machine& machine, const Permit& permit) = 0;
  // Requests the end of the machine, with the same use of `permit`, and returns once the provider
  // has accepted it. Succeeds if the machine is already gone. Never ends a machine with another
  // provider_id.
  [[nodiscard]] virtual Status terminate(const Machine& machine, const Permit& permit) = 0;
  [[nodiscard]] virtual Result<MachineFate> fate(const Machine& machine) = 0;
  // Returns proofs that the machine is up or down; empty if this provider has no proof to give. If
  // a query fails, the proof has the sign kUnknown and the reason.
  [[nodiscard]] virtual MachineProofs proofs(const Machine&) { return {}; }
};

struct ProviderParts {
  const CurrentPolicy& policy;  // Read at every call, because the settings may change.
  kube::Api& api;               // The API client of the leader.
  Clock& clock;
  aws::AwsClient* aws = nullptr;  // Null if no machine is on AWS.
};

// Combines all providers: calls the first provider that can do the action on the machine. Returns
// kRefused if none can.
[[nodiscard]] std::unique_ptr<CloudProvider> make_providers(const ProviderParts& parts);

}  // namespace gpuward::remediator
