// A step after taint and cordon. The step begins once; gpuward then watches it until it is done or
// has failed. StepExecution writes the intent before begin() and the result after it. After a crash
// in between, watch() follows, never a second begin(). Each step has its own file, and all.cpp
// lists the steps.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/kube/objects.h"
#include "core/model/permit.h"
#include "core/model/result.h"
#include "remediator/model/remediation.h"
#include "remediator/model/step_facts.h"
#include "remediator/policy/current_policy.h"

namespace gpuward::remediator {

struct StepRequest {
  const Remediation& remediation;
  // The Node. For begin() it was just read from the API server. For watch() it is the informers'
  // last state, which may miss that another Node now has the name. So every disruptive call also
  // needs `permit`.
  const kube::Node& node;
  const PlannedStep& step;
  Facts facts;  // Facts in the record of the step.
  // Called right before every call that changes anything, and before each retry. It reads
  // everything again. It checks the stop switch, the leadership, and whether an operator has
  // requested cancel or pause. For a step on the node it also checks that the Node still belongs to
  // the Remediation, is not excluded, and may be changed that far. After an error the step must
  // change nothing.
  Permit permit;
  WallTime now;
  // How long the step has run (act/step_clock.h). All time limits of the step use this value.
  std::chrono::milliseconds ran{0};
  // The part of `ran` that only the previous leader may have watched, until a record contains it.
  std::chrono::milliseconds unwatched{0};
};

// The reason why the result of a finished step no longer holds.
struct StepUndone {
  std::string what;            // Description of the change; stays the same while nothing changes.
  bool can_be_redone = false;  // False: the next step waits until the change is over.
};

// The interface of a step. Any thread may call it, but for one node at a time.
class StepAction {
 public:
  virtual ~StepAction() = default;
  // Returns the facts to record before the step begins. Pure.
  [[nodiscard]] virtual Facts facts_before(const kube::Node&) const { return {}; }
  // Returns whether begin() is no more than a first watch(). The intent of such a step is recorded
  // as running at once.
  [[nodiscard]] virtual bool is_only_watched() const { return false; }
  // Returns the reason why the step has to wait; nullopt if it may begin. The text must stay the
  // same while nothing changes. Called before the intent is written; changes nothing.
  [[nodiscard]] virtual Result<std::optional<std::string>> obstacle(const StepRequest&) {
    return std::nullopt;
  }
  // Starts the step. After an error it is unknown whether the step has begun, and watch() follows.
  [[nodiscard]] virtual Result<StepProgress> begin(const StepRequest& request) = 0;
  // Checks the progress of the step. After an error the state is unknown, and watch() is called
  // again.
  [[nodiscard]] virtual Result<StepProgress> watch(const StepRequest& request) = 0;
  // Called for a finished step right before another step that depends on it. Returns nullopt if the
  // result still holds. After an error the answer is unknown.
  [[nodiscard]] virtual Result<std::optional<StepUndone>> undone(const StepRequest&) {
    return std::nullopt;
  }
  // Ends work that would continue by itself. Called when gpuward leaves a step that has begun: an
  // operator has cancelled, or the node got worse and other steps follow. May be repeated.
  [[nodiscard]] virtual Status abandon(const StepRequest&) { return {}; }
};

// Returns the action of a step; nullptr if this process has no action for the step. Thread-safe.
using StepActions = std::function<StepAction*(Step)>;

}  // namespace gpuward::remediator
