// What careful people set beside their plans, in some simulations: nodes kept away from gpuward for
// a while, maintenance windows, pools with a mode and plans of their own, rest after a restart,
// shares of the nodes, a least number of healthy ones, and who is to be told. With chance of its
// own, so that the other simulations stay as they are.
#pragma once

#include <string>

#include "tests/simulation/stage.h"

namespace gpuward::remediator::simulation {

// Which of it there is, drawn before anything happens.
void let_people_take_care(Setting& setting, Chance& chance);
// The same for each policy that people set later.
void put_care(Policy& policy, const Setting& setting, Chance& chance);

// As its ConfigMap has them.
[[nodiscard]] ExclusionList exclusions_in(const Json& config_map);

class Care {
 public:
  explicit Care(Stage& stage) : stage_(stage) {}

  void do_something();
  // The quiet time begins: nobody is excluded, every window is open.
  void stop();

 private:
  void exclude();
  void write(const ExclusionList& list);
  void remove_list();

  Stage& stage_;
};

}  // namespace gpuward::remediator::simulation
