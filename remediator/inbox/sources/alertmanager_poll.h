// Reads Alertmanager's firing alerts regularly, so that a lost notification does no harm. It passes
// firing alerts to the intake, and ends alerts that have disappeared. It also answers which alerts
// fire without a silence now, because an operator can stop gpuward by a silence.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <thread>

#include "core/model/result.h"
#include "core/runtime/clock.h"
#include "remediator/cluster/known_evidence.h"
#include "remediator/inbox/sources/absent_alerts.h"
#include "remediator/inbox/sources/active_alerts.h"
#include "remediator/inbox/sources/alertmanager_api.h"
#include "remediator/inbox/sources/intake.h"
#include "remediator/policy/current_policy.h"

namespace gpuward::remediator {

struct PollOptions {
  std::chrono::milliseconds every{60'000};
  std::chrono::milliseconds read_within{5'000};
  std::chrono::milliseconds take_within{10'000};
  // How long a read is reused, so that many waiting nodes cost one read.
  std::chrono::milliseconds fresh_for{5'000};
  // How long an alert must be absent before it counts as ended. A restarted Alertmanager has no
  // alerts until Prometheus sends them again, each minute by default (--rules.alert.resend-delay).
  std::chrono::milliseconds gone_for{600'000};
  const CurrentPolicy* policy = nullptr;  // Policy with the foreign_alerts; null: none apply.
  const KnownEvidence* known = nullptr;   // Evidence that may end; null: no evidence ends.
};

class AlertmanagerPoll final : public ActiveAlerts {
 public:
  // The arguments must outlive the poll.
  AlertmanagerPoll(PollOptions options, FiringAlerts& firing, Intake& intake, Clock& clock);
  ~AlertmanagerPoll() override;
  AlertmanagerPoll(const AlertmanagerPoll&) = delete;
  AlertmanagerPoll& operator=(const AlertmanagerPoll&) = delete;

  // Starts the thread, which runs rounds regularly; the destructor stops and joins it. `on_error`
  // is called on the thread for failed rounds, and the next round follows anyway.
  void start(std::function<void(const Error&)> on_error);
  // Runs one round. Called by the thread, or by a test that has not started it.
  [[nodiscard]] Status round();

  [[nodiscard]] Result<std::map<std::string, Severity>> active_on(const std::string& node) override;
  [[nodiscard]] Result<std::set<std::string>> all_firing(std::chrono::milliseconds limit) override;

 private:
  void run(const std::stop_token& stop);
  // Requires: mutex_ is held.
  [[nodiscard]] Status read(std::chrono::milliseconds limit);
  [[nodiscard]] std::vector<AlertSignal> ended(const std::set<std::string>& firing);

  PollOptions options_;
  FiringAlerts& firing_;
  Intake& intake_;
  Clock& clock_;
  std::function<void(const Error&)> on_error_;
  std::timed_mutex mutex_;  // Held while reading, so that concurrent callers share a read.
  std::optional<Clock::Steady> read_at_;
  // The result of the last read.
  std::vector<AlertSignal> active_;
  std::set<std::string> firing_now_;
  std::atomic<std::uint64_t> begun_{0};  // Number of started reads; not guarded by the mutex.
  std::uint64_t done_ = 0;               // Number of the last answered read.
  AbsentAlerts absent_;                  // Used by the thread only.
  std::jthread thread_;
};

}  // namespace gpuward::remediator
