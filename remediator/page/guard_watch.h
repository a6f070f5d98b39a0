// Looks from time to time whether approvals are guarded, where the policy needs approvals, and says
// so on /readyz, in the metrics and in the log. On a thread of its own.
#pragma once

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "core/runtime/clock.h"
#include "core/runtime/log.h"
#include "remediator/execution/guard_probe.h"
#include "remediator/policy/current_policy.h"

namespace gpuward::remediator {

// How long a process that starts is not ready because approvals are not guarded: longer than
// `helm --wait` waits. Then the webhook is worth more, and the alert speaks; an approval is
// accepted no sooner.
inline constexpr std::chrono::minutes kGuardHoldsBack{6};

class GuardWatch {
 public:
  // All must outlive it.
  GuardWatch(GuardProbe& probe, const CurrentPolicy& policy, Clock& clock, Log& log);
  // Any thread; nullopt where there is none.
  [[nodiscard]] std::optional<std::string> objection() const;
  // Nullopt where the policy needs no approval.
  [[nodiscard]] std::optional<bool> guarded() const;
  void request_stop() { thread_.request_stop(); }

 private:
  void run(const std::stop_token& stop);
  void say(const Status& seen);

  GuardProbe& probe_;
  const CurrentPolicy& policy_;
  Clock& clock_;
  Log& log_;
  const Clock::Steady begun_;
  std::optional<std::string> said_;  // "" for guarded; of the thread
  std::jthread thread_;
};

}  // namespace gpuward::remediator
