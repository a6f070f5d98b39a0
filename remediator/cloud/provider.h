// Who can restart a machine or end it: the cluster's own objects, a cloud, a program of the
// operator's. One file a provider, all in all.cpp. Used by the actions; a provider decides nothing.
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
#include "remediator/cloud/machine_owner.h"
#include "remediator/guards/machine_proofs.h"
#include "remediator/policy/current_policy.h"

namespace gpuward::remediator {

// The machine behind a node, as it was when the step was intended.
struct Machine {
  std::string remediation;  // its name: the same for every call of one step
  std::string node, node_uid;
  std::string provider_id;  // spec.providerID; empty where the node has none
  std::string boot_id;
  kube::Labels labels;
  std::optional<MachineOwner> owner = {};
};

enum class MachineAction : std::uint8_t { kReboot, kTerminate };
[[nodiscard]] constexpr std::string_view to_string(MachineAction action) {
  return action == MachineAction::kReboot ? "reboot" : "terminate";
}

// What has become of a machine that was to be terminated.
enum class Fate : std::uint8_t {
  kRuns,    // its end was not asked for
  kEnding,  // it was, or nobody can tell
  kGone,    // proven: it does not come back
};

struct MachineFate {
  MachineFate(Fate of_machine, std::string said = {})  // NOLINT(*-explicit-*): most say no more
      : is(of_machine), words(std::move(said)) {}
  [[nodiscard]] bool operator==(Fate other) const { return is == other; }

  Fate is;
  std::string words;  // of kEnding: what it waits for, where the provider knows
};

// Of an error of reboot() and terminate(): nobody knows whether it was accepted. Else it was not.
[[nodiscard]] constexpr bool may_have_arrived(ErrorKind kind) {
  return kind == ErrorKind::kTimeout || kind == ErrorKind::kUnavailable;
}

// Of an error of reboot() and terminate(): it was not accepted, and may be later (throttled, or
// what has to be known before cannot be learned now).
[[nodiscard]] constexpr bool is_not_now(ErrorKind kind) {
  return kind == ErrorKind::kOverloaded || kind == ErrorKind::kBlocked;
}
// Of an error of reboot(): it says nothing of the machine, so that a worse step would not help it.
[[nodiscard]] constexpr bool is_of_rights(ErrorKind kind) {
  return kind == ErrorKind::kForbidden || kind == ErrorKind::kUnauthenticated ||
         kind == ErrorKind::kNotFound;
}

// Any thread. The message of an error says why.
class CloudProvider {
 public:
  virtual ~CloudProvider() = default;
  // Whether this provider is the one to ask. Pure.
  [[nodiscard]] virtual bool can(MachineAction action, const Machine& machine) const = 0;
  // Asks for a restart and returns once that is accepted; it is called at most once an intent.
  // `permit` is asked right before each request that does it, when all that has to be known before
  // is known; where it refuses the first of them, its error is the answer and nothing was done.
  [[nodiscard]] virtual Status reboot(const Machine& machine, const Permit& permit) = 0;
  // Asks for the machine's end, by the same permit, and returns once that is accepted; a machine
  // that is gone already is a success. Never another machine than the one of that provider_id.
  [[nodiscard]] virtual Status terminate(const Machine& machine, const Permit& permit) = 0;
  [[nodiscard]] virtual Result<MachineFate> fate(const Machine& machine) = 0;
  // What it knows of whether the machine is up; empty where it is not the one to ask. What cannot
  // be learned is a proof of nothing that says why.
  [[nodiscard]] virtual MachineProofs proofs(const Machine&) { return {}; }
};

struct ProviderParts {
  const CurrentPolicy& policy;  // settings are read at every call: they may change
  kube::Api& api;               // of the leader
  Clock& clock;
  aws::AwsClient* aws = nullptr;  // null: no machine is one of AWS
};

// All of them as one: for each action and machine the first that can. Where none can, kRefused.
[[nodiscard]] std::unique_ptr<CloudProvider> make_providers(const ProviderParts& parts);

}  // namespace gpuward::remediator
