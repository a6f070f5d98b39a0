// What must be true of a pod's removal as it reaches the API server, and of the end of a drain: it
// is a pod of the very node that the Remediation is about, whatever bears the node's name by now.
// Part of the invariants.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <utility>

#include "core/http/client/client.h"
#include "remediator/actions/step_action.h"
#include "tests/simulation/newcomers.h"
#include "tests/simulation/stage.h"

namespace gpuward::remediator::simulation {

class EvictionRules {
 public:
  EvictionRules(Stage& stage, NewcomerRules& newcomers) : stage_(stage), newcomers_(newcomers) {}

  // The API server has accepted it.
  void on_removed(const http::ClientRequest& request);
  // A drain says that it is done; its look began at that time.
  void on_drained(const Remediation& remediation, Tick begun) const;
  // A look at a drain by that process has ended with that, which may be after its time.
  void on_look(const StepRequest& order, const StepProgress& progress, Tick begun,
               const void* process);

 private:
  // The time in which a leader watched the drain, at most: a pause that no look has seen is in it.
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
