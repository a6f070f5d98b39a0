// What a step after taint and cordon is: something begun once and then watched until it is done or
// has failed. StepExecution writes the intent before begin() and the result after it; whatever
// crashes in between, the next look is a watch(), never a second begin(). One file a step, all in
// all.cpp.
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
#include "remediator/policy/current_policy.h"

namespace gpuward::remediator {

struct StepRequest {
  const Remediation& remediation;
  // Of a begin(): read a moment ago. Of a watch(): as the informers reported it last, which may
  // not know yet that its name is another Node's. What it says disrupts nothing; whatever does is
  // sent by leave of `permit` only.
  const kube::Node& node;
  const PlannedStep& step;
  Facts facts;  // of the step's record
  // To be asked right before every call that changes anything, its repeats too: the stop switch,
  // the leadership, whether an operator has set cancel or pause, and, of a step on the node,
  // whether the Node is still the one that the Remediation is about, is not excluded, and may be
  // acted on that far. All of it is read afresh. An error means: change nothing.
  Permit permit;
  WallTime now;
  // How long the step has run (execution/step_clock.h): every limit of it counts this.
  std::chrono::milliseconds ran{0};
  // The part of `ran` that only the leader before may have watched, until a record has it.
  std::chrono::milliseconds unwatched{0};
};

struct StepProgress {
  // kIntended: nothing was done, and the step can be begun again later.
  StepResult result = StepResult::kRunning;
  std::string message;  // stays the same while nothing changes: it is written to the status
  Facts facts;          // the record's from now on
  std::optional<std::chrono::milliseconds> look_again;
  std::vector<std::string> news = {};  // said once: in the history and as an Event
  // False: others make the step wait, and its clock stops until the next look.
  bool runs_clock = true;
};

// Why the result of a step that is done does not hold any more.
struct StepUndone {
  std::string what;            // in words that stay the same while nothing changes
  bool can_be_redone = false;  // false: the next step waits until it is over
};

// Any thread; of one node at a time.
class StepAction {
 public:
  virtual ~StepAction() = default;
  // What has to be written down before the step is begun. Pure.
  [[nodiscard]] virtual Facts facts_before(const kube::Node&) const { return {}; }
  // Whether begin() is no more than a first watch(): its intent stands as running at once.
  [[nodiscard]] virtual bool is_only_watched() const { return false; }
  // What the step has to wait for, in words that stay the same while nothing changes; asked before
  // the intent is written. Changes nothing.
  [[nodiscard]] virtual Result<std::optional<std::string>> obstacle(const StepRequest&) {
    return std::nullopt;
  }
  // An error: nobody knows whether it was begun. The next look is a watch().
  [[nodiscard]] virtual Result<StepProgress> begin(const StepRequest& request) = 0;
  // An error: it cannot be told now; look again.
  [[nodiscard]] virtual Result<StepProgress> watch(const StepRequest& request) = 0;
  // Asked of a step that is done, right before another one that rests on it. nullopt: it holds. An
  // error: the answer is unknown now.
  [[nodiscard]] virtual Result<std::optional<StepUndone>> undone(const StepRequest&) {
    return std::nullopt;
  }
  // The step is under way and is left: an operator has cancelled and the node goes back into
  // service, or the node got worse and other steps follow. Ends what would go on by itself. May be
  // repeated.
  [[nodiscard]] virtual Status abandon(const StepRequest&) { return {}; }
};

// Finds the action of a step; null where nothing here can do it. Any thread.
using StepActions = std::function<StepAction*(Step)>;

}  // namespace gpuward::remediator
