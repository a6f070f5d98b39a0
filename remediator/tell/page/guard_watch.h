// Checks regularly, on its own thread, whether approvals are guarded, if the policy needs
// approvals. Reports the result on /readyz, in the metrics and in the log.
#pragma once

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "core/runtime/clock.h"
#include "core/runtime/log.h"
#include "remediator/act/guard_probe.h"
#include "remediator/policy/current_policy.h"

namespace gpuward::remediator {

// How long a new process stays not ready because approvals are not guarded. The time is longer than
// `helm --wait` waits. After it the process is ready, because the webhook is more important. An
// alert reports the missing guard, and approvals are still not accepted.
inline constexpr std::chrono::minutes kGuardHoldsBack{6};

class GuardWatch {
 public:
  // The arguments must outlive this object.
  GuardWatch(GuardProbe& probe, const CurrentPolicy& policy, Clock& clock, Log& log);
  // Returns why the process is not ready; nullopt if the guard does not prevent it. Thread-safe.
  [[nodiscard]] std::optional<std::string> objection() const;
  // Returns whether approvals are guarded; nullopt if the policy needs no approval.
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
  std::optional<std::string> said_;  // "" for guarded; used by the thread only.
  std::jthread thread_;
};

}  // namespace gpuward::remediator
