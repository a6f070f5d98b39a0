// The product's own verification of one replica, and the rule for its end: for the whole soak,
// leaders watched the node and found it healthy, apart from looks without an answer. Ends with the
// process; SoakRules do not.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <utility>

#include "remediator/act/actions/step_action.h"
#include "tests/simulation/stage.h"

namespace gpuward::remediator::simulation {

class SoakRules {
 public:
  explicit SoakRules(Stage& stage) : stage_(stage) {}

  // A look at a verification has ended with this result.
  void on_look(const StepRequest& order, const StepProgress& progress);

 private:
  struct Soak {
    std::chrono::milliseconds at_most{0};
    Clock::Steady last;
  };

  Stage& stage_;
  std::map<std::pair<std::string, WallTime>, Soak> soaks_;  // by Remediation and intent
};

class SoakedVerify final : public StepAction {
 public:
  SoakedVerify(Stage& stage, SoakRules& rules, StepAction& action)
      : stage_(stage), rules_(rules), action_(action) {}
  [[nodiscard]] bool is_only_watched() const override { return action_.is_only_watched(); }
  [[nodiscard]] Result<StepProgress> begin(const StepRequest& order) override;
  [[nodiscard]] Result<StepProgress> watch(const StepRequest& order) override;
  [[nodiscard]] Status abandon(const StepRequest& order) override { return action_.abandon(order); }

 private:
  using Look = Result<StepProgress> (StepAction::*)(const StepRequest&);
  [[nodiscard]] Result<StepProgress> look(const StepRequest& order, Look how);

  Stage& stage_;
  SoakRules& rules_;
  StepAction& action_;
};

}  // namespace gpuward::remediator::simulation
