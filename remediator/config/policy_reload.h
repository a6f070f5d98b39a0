// Replaces the policy in force, after a signal or after a change of its file. If the new policy is
// invalid, the reload logs the error and keeps the old policy. Made by the composition root.
#pragma once

#include <atomic>
#include <functional>
#include <optional>

#include "core/model/result.h"
#include "core/runtime/clock.h"
#include "core/runtime/files.h"
#include "core/runtime/log.h"
#include "remediator/act/drain/evictor.h"
#include "remediator/config/flags.h"
#include "remediator/inbox/triage/triage.h"
#include "remediator/notify/notifier.h"
#include "remediator/policy/current_policy.h"

namespace gpuward::remediator {

// The parts that use a policy. They must outlive the reload.
struct PolicyUsers {
  CurrentPolicy& policy;
  Triage& triage;
  Notifier& notifier;
  Evictor& evictor;
  std::function<void()> on_new;  // Called after a new policy is in force.
  Clock& clock;
  Log& log;
};

// Reloads the policy. Only the main thread may call it, except for the functions that metrics read.
class PolicyReload {
 public:
  // `watch` comes from load_watched_policy().
  PolicyReload(const Flags& flags, std::optional<FileWatch> watch, PolicyUsers users);

  // Applies the policy that the process starts with.
  [[nodiscard]] Status adopt_first();
  void reload();
  void reload_if_changed();

  // Returns whether the last reload succeeded, and the time of the last successful reload.
  // Thread-safe.
  [[nodiscard]] bool last_good() const { return last_good_; }
  [[nodiscard]] Clock::Wall last_good_at() const { return last_good_at_; }

 private:
  [[nodiscard]] Result<Notifier::Leaving> adopt(const Policy& policy);

  const Flags& flags_;
  PolicyUsers users_;
  std::optional<FileWatch> watch_;
  std::atomic<bool> last_good_{true};
  std::atomic<Clock::Wall> last_good_at_;
};

}  // namespace gpuward::remediator
