// Precautions that operators set in some simulations besides their plans: exclusions for a limited
// time, maintenance windows, pools with their own mode and plans, a cooldown after a restart,
// shares of the nodes, a minimum of healthy nodes, and notifications. Has its own chance, so that
// the other simulations stay as they are.
#pragma once

#include <string>

#include "tests/simulation/stage.h"

namespace gpuward::remediator::simulation {

// Draws, before anything happens, which of these there are.
void let_people_take_care(Setting& setting, Chance& chance);
// Adds the same to each policy that operators set later.
void put_care(Policy& policy, const Setting& setting, Chance& chance);

// The exclusions in the ConfigMap.
[[nodiscard]] ExclusionList exclusions_in(const Json& config_map);

class Care {
 public:
  explicit Care(Stage& stage) : stage_(stage) {}

  void do_something();
  // The quiet time begins: no node is excluded, and every window is open.
  void stop();

 private:
  void exclude();
  void write(const ExclusionList& list);
  void remove_list();

  Stage& stage_;
};

}  // namespace gpuward::remediator::simulation
