// A step after taint and cordon: it begins once and is then watched until it is done or has failed.
// StepExecution writes the intent before begin() and the result after it; after a crash in between,
// watch() follows, never a second begin(). Each step has its own file, and all.cpp lists them.
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
  // For begin(): just read. For watch(): as the informers last reported it, which may not know yet
  // that another Node has its name. Nothing disruptive follows from it alone: each such call needs
  // `permit`.
  const kube::Node& node;
  const PlannedStep& step;
  Facts facts;  // of the step's record
  // Called right before every call that changes anything, and before its retries. It checks the
  // stop switch, the leadership, whether an operator has set cancel or pause, and, for a step on
  // the node, whether the Node is still the one of the Remediation, is not excluded, and may be
  // changed that far. It reads all of that again. An error means: change nothing.
  Permit permit;
  WallTime now;
  // How long the step has run (execution/step_clock.h): every limit of it counts this.
  std::chrono::milliseconds ran{0};
  // The part of `ran` that only the previous leader may have watched, until a record has it.
  std::chrono::milliseconds unwatched{0};
};

struct StepProgress {
  // kIntended: nothing was done, and begin() can be called later.
  StepResult result = StepResult::kRunning;
  std::string message;  // stays the same while nothing changes: it is written to the status
  Facts facts;          // replace the record's
  std::optional<std::chrono::milliseconds> look_again;
  std::vector<std::string> news = {};  // said once: in the history and as an Event
  // False: the step waits for others, and its clock stops until the next check.
  bool runs_clock = true;
};

// Why the result of a step that is done no longer holds.
struct StepUndone {
  std::string what;            // in words that stay the same while nothing changes
  bool can_be_redone = false;  // false: the next step waits until it is over
};

// Any thread; one node at a time.
class StepAction {
 public:
  virtual ~StepAction() = default;
  // The facts to record before the step begins. Pure.
  [[nodiscard]] virtual Facts facts_before(const kube::Node&) const { return {}; }
  // Whether begin() is no more than a first watch(): its intent is recorded as running at once.
  [[nodiscard]] virtual bool is_only_watched() const { return false; }
  // Returns the reason why the step has to wait, in words that stay the same while nothing changes;
  // called before the intent is written. Changes nothing.
  [[nodiscard]] virtual Result<std::optional<std::string>> obstacle(const StepRequest&) {
    return std::nullopt;
  }
  // After an error it is unknown whether the step has begun; watch() follows.
  [[nodiscard]] virtual Result<StepProgress> begin(const StepRequest& request) = 0;
  // After an error the state is unknown for now; watch() is called again.
  [[nodiscard]] virtual Result<StepProgress> watch(const StepRequest& request) = 0;
  // Called for a step that is done, right before another one that depends on it. nullopt: its
  // result holds. An error: the answer is unknown now.
  [[nodiscard]] virtual Result<std::optional<StepUndone>> undone(const StepRequest&) {
    return std::nullopt;
  }
  // Called when a step under way is left: an operator has cancelled and the node returns to
  // service, or the node got worse and other steps follow. Ends work that would continue by itself.
  // May be repeated.
  [[nodiscard]] virtual Status abandon(const StepRequest&) { return {}; }
};

// Finds the action of a step; nullptr if this process has none for it. Thread-safe.
using StepActions = std::function<StepAction*(Step)>;

}  // namespace gpuward::remediator
