// The cloud behind the machines: it restarts them, refuses, answers too late after having done it
// or without, or never brings the machine back.
#pragma once

#include "remediator/cloud/provider.h"
#include "tests/simulation/fleet.h"
#include "tests/simulation/invariants.h"

namespace gpuward::remediator::simulation {

class Cloud final : public CloudProvider {
 public:
  Cloud(Stage& stage, Fleet& fleet, Invariants& invariants)
      : stage_(stage), fleet_(fleet), invariants_(invariants) {}
  [[nodiscard]] bool can(Deed deed, const remediator::Machine&) const override {
    return deed == Deed::kReboot;
  }
  [[nodiscard]] Status reboot(const remediator::Machine& order) override;
  [[nodiscard]] Status terminate(const remediator::Machine&) override {
    return fail(ErrorKind::kRefused, "this cloud ends no machines");
  }
  [[nodiscard]] Result<Fate> fate(const remediator::Machine&) override { return Fate::kEnding; }

 private:
  void restart(Machine& machine);

  Stage& stage_;
  Fleet& fleet_;
  Invariants& invariants_;
};

}  // namespace gpuward::remediator::simulation
