// The remediator's counters of its own work, which tell/page/metrics renders. Filled through the
// observers of webhook and reconciler.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "core/metrics/histogram.h"
#include "core/runtime/clock.h"
#include "remediator/act/observer.h"
#include "remediator/inbox/sources/intake.h"
#include "remediator/inbox/sources/webhook_observer.h"
#include "remediator/model/milestone.h"

namespace gpuward::remediator {

struct CounterValues {
  std::uint64_t notifications = 0;
  std::uint64_t truncated_alerts = 0;
  double webhook_seconds = 0;
  double webhook_slowest_seconds = 0;
  std::map<std::string, std::uint64_t> notifications_failed;  // by reason
  std::map<int, std::uint64_t> webhook_requests;              // by status
  std::map<std::string, std::uint64_t> alerts;                // by outcome
  std::map<std::string, std::uint64_t> alerts_ignored;        // by reason
  std::map<std::string, std::uint64_t> actions;               // by action: carried out
  std::map<std::string, std::uint64_t> action_failures;       // by action
  std::map<std::string, std::uint64_t> decisions;             // by verdict
  std::map<std::string, std::uint64_t> errors;                // by kind
  std::map<Milestone, metrics::Histogram> since_fault;        // in seconds
  std::optional<Clock::Wall> last_notification;
};

// Thread-safe.
class Counters {
 public:
  explicit Counters(Clock& clock);
  void count(const WebhookOutcome& outcome);
  void count(Ignored reason);
  void count(const AuditRecord& record);
  void count_answer(int status);
  void count(const Error& error);
  void count(Milestone milestone, std::chrono::duration<double> since_fault);
  [[nodiscard]] CounterValues values() const;

 private:
  Clock& clock_;
  mutable std::mutex mutex_;
  CounterValues values_;
};

}  // namespace gpuward::remediator
