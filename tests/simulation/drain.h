// The drain as a script: it takes some looks, sometimes fails, and sometimes cannot list the pods.
// Replaces the Drainer. The cluster, not the process, keeps the number of pods that are left.
#pragma once

#include <map>
#include <string>

#include "remediator/act/actions/step_action.h"
#include "tests/simulation/invariants.h"
#include "tests/simulation/stage.h"
#include "tests/simulation/torn_jobs.h"

namespace gpuward::remediator::simulation {

class ScriptedDrain final : public StepAction {
 public:
  ScriptedDrain(Stage& stage, Invariants& invariants, TornJobs& torn)
      : stage_(stage), invariants_(invariants), torn_(torn) {}
  [[nodiscard]] Result<StepProgress> begin(const StepRequest& order) override;
  [[nodiscard]] Result<StepProgress> watch(const StepRequest& order) override;

 private:
  [[nodiscard]] int& pods_left(const StepRequest& order);

  Stage& stage_;
  Invariants& invariants_;
  TornJobs& torn_;
  std::map<std::string, int> pods_;  // number left, by Remediation and severity
};

}  // namespace gpuward::remediator::simulation
