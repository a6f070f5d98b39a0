// Rules for the removal of a pod when it reaches the API server, and for the end of a drain: the
// pod is on the very node of the Remediation, even if another Node has that name now. Part of the
// invariants.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <utility>

#include "core/http/client/client.h"
#include "remediator/act/actions/step_action.h"
#include "tests/simulation/newcomers.h"
#include "tests/simulation/stage.h"

namespace gpuward::remediator::simulation {

class EvictionRules {
 public:
  EvictionRules(Stage& stage, NewcomerRules& newcomers) : stage_(stage), newcomers_(newcomers) {}

  // The API server has accepted it.
  void on_removed(const http::ClientRequest& request);
  // A drain reports that it is done; `begun` is when its look began.
  void on_drained(const Remediation& remediation, Tick begun) const;
  // A look of that process at a drain has ended with this result, perhaps after the drain's
  // deadline.
  void on_look(const StepRequest& order, const StepProgress& progress, Tick begun,
               const void* process);

 private:
  // The longest time for which a leader can have watched the drain. It includes pauses that no look
  // has seen.
  struct Watched {
    std::chrono::milliseconds at_most{0};
    const void* process = nullptr;
    Clock::Steady last;
  };
  [[nodiscard]] std::chrono::milliseconds watched(const StepRequest& order, const void* process);
  void check_names(const StepRequest& order, const StepProgress& progress, Tick begun) const;

  Stage& stage_;
  NewcomerRules& newcomers_;
  std::map<std::pair<std::string, WallTime>, Watched> watched_;  // by Remediation and intent
};

}  // namespace gpuward::remediator::simulation
