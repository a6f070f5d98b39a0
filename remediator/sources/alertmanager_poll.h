// Reads Alertmanager's firing alerts regularly, so that a lost notification does no harm: it passes
// firing alerts to the intake, and ends alerts that have disappeared. It also answers which alerts
// fire without a silence right now: a silence is an operator's veto.
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
#include "remediator/guards/active_alerts.h"
#include "remediator/policy/current_policy.h"
#include "remediator/sources/absent_alerts.h"
#include "remediator/sources/alertmanager_api.h"
#include "remediator/sources/intake.h"
#include "remediator/sources/known_evidence.h"

namespace gpuward::remediator {

struct PollOptions {
  std::chrono::milliseconds every{60'000};
  std::chrono::milliseconds read_within{5'000};
  std::chrono::milliseconds take_within{10'000};
  // For how long a read is reused: many nodes that wait at once cost one read.
  std::chrono::milliseconds fresh_for{5'000};
  // How long an alert must be absent before it counts as ended. A restarted Alertmanager has none
  // until Prometheus has sent them again, each minute by default (--rules.alert.resend-delay).
  std::chrono::milliseconds gone_for{600'000};
  const CurrentPolicy* policy = nullptr;  // whose foreign_alerts apply; null: none
  const KnownEvidence* known = nullptr;   // evidence that may end; null: none ends
};

class AlertmanagerPoll final : public ActiveAlerts {
 public:
  // All must outlive it.
  AlertmanagerPoll(PollOptions options, FiringAlerts& firing, Intake& intake, Clock& clock);
  ~AlertmanagerPoll() override;
  AlertmanagerPoll(const AlertmanagerPoll&) = delete;
  AlertmanagerPoll& operator=(const AlertmanagerPoll&) = delete;

  // Starts the thread, which runs rounds regularly; the destructor stops and joins it. `on_error`
  // is called on the thread, for failed rounds; the next round follows anyway.
  void start(std::function<void(const Error&)> on_error);
  // One round; for the thread, or for a caller that has not started it.
  [[nodiscard]] Status round();

  [[nodiscard]] Result<std::map<std::string, Severity>> active_on(const std::string& node) override;
  [[nodiscard]] Result<std::set<std::string>> all_firing(std::chrono::milliseconds limit) override;

 private:
  void run(const std::stop_token& stop);
  // Called with the mutex held.
  [[nodiscard]] Status read(std::chrono::milliseconds limit);
  [[nodiscard]] std::vector<AlertSignal> ended(const std::set<std::string>& firing);

  PollOptions options_;
  FiringAlerts& firing_;
  Intake& intake_;
  Clock& clock_;
  std::function<void(const Error&)> on_error_;
  std::timed_mutex mutex_;  // held while reading: concurrent callers want the same
  std::optional<Clock::Steady> read_at_;
  // The result of the last read.
  std::vector<AlertSignal> active_;
  std::set<std::string> firing_now_;
  std::atomic<std::uint64_t> begun_{0};  // number of reads started; not under the mutex
  std::uint64_t done_ = 0;               // number of the last answered read
  AbsentAlerts absent_;                  // used by the thread only
  std::jthread thread_;
};

}  // namespace gpuward::remediator
