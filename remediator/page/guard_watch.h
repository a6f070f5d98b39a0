// Checks regularly whether approvals are guarded, if the policy needs approvals, and reports it on
// /readyz, in the metrics and in the log. On its own thread.
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

// How long a new process is not ready because approvals are not guarded: longer than `helm --wait`
// waits. After that it is ready, because the webhook matters more and an alert reports the missing
// guard; approvals are still not accepted.
inline constexpr std::chrono::minutes kGuardHoldsBack{6};

class GuardWatch {
 public:
  // All references must outlive it.
  GuardWatch(GuardProbe& probe, const CurrentPolicy& policy, Clock& clock, Log& log);
  // Thread-safe. Returns why the process is not ready; nullopt if the guard does not prevent it.
  [[nodiscard]] std::optional<std::string> objection() const;
  // Returns nullopt if the policy needs no approval.
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
