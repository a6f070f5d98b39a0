// The cloud behind the machines: it restarts or ends them, refuses, answers too late with or
// without having acted, never brings the machine back, or never completes the call.
#pragma once

#include "remediator/act/cloud/provider.h"
#include "tests/simulation/cloud_faults.h"
#include "tests/simulation/fleet.h"
#include "tests/simulation/invariants.h"
#include "tests/simulation/silent_nodes.h"

namespace gpuward::remediator::simulation {

class Cloud final : public CloudProvider {
 public:
  Cloud(Stage& stage, Fleet& fleet, SilentNodes& silent, Invariants& invariants,
        CloudFaults::Meanwhile meanwhile)
      : stage_(stage),
        fleet_(fleet),
        silent_(silent),
        invariants_(invariants),
        faults_(stage, std::move(meanwhile)) {}
  [[nodiscard]] bool can(MachineAction action, const remediator::Machine&) const override {
    return action == MachineAction::kTerminate || !stage_.setting.restarts_by_job;
  }
  [[nodiscard]] Status reboot(const remediator::Machine& order, const Permit& permit) override;
  [[nodiscard]] Status terminate(const remediator::Machine& order, const Permit& permit) override;
  [[nodiscard]] Result<MachineFate> fate(const remediator::Machine& order) override;
  [[nodiscard]] MachineProofs proofs(const remediator::Machine& order) override {
    return silent_.proofs(order);
  }

 private:
  [[nodiscard]] Status ask_leave(const remediator::Machine& order, Step step, const Permit& permit);
  // Returns the cloud's answer to the call.
  [[nodiscard]] Status take_restart(const remediator::Machine& order, CallFault fault);
  [[nodiscard]] Status take_end(const remediator::Machine& order, CallFault fault);
  void restart(const remediator::Machine& order, Machine& machine);
  void replace_perhaps(const std::string& node);
  void end(const remediator::Machine& order, Machine& machine, bool for_ever);

  Stage& stage_;
  Fleet& fleet_;
  SilentNodes& silent_;
  Invariants& invariants_;
  CloudFaults faults_;
};

}  // namespace gpuward::remediator::simulation
