#include "remediator/tell/page/counters.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace gpuward::remediator {
namespace {

constexpr std::array<std::string_view, 15> kErrorKinds = {
    "invalid", "unauthenticated", "forbidden", "not_found", "already_exists", "conflict",
    "gone",    "blocked",         "refused",   "too_large", "overloaded",     "unavailable",
    "timeout", "cancelled",       "internal"};

// The verdicts that are counted. The others only ask for more input, and one of these follows.
constexpr std::array kToldVerdicts = {
    Verdict::kLower, Verdict::kRecord, Verdict::kQuarantine, Verdict::kHold,    Verdict::kPause,
    Verdict::kBegin, Verdict::kWatch,  Verdict::kEscalate,   Verdict::kRelease, Verdict::kClose};

// Buckets from the fastest taint of a node to a return that waits for people.
metrics::Histogram no_times_since_fault() {
  return metrics::Histogram({1, 5, 15, 30, 60, 120, 300, 600, 1'800, 3'600, 14'400, 86'400});
}

}  // namespace

Counters::Counters(Clock& clock) : clock_(clock) {
  // Present at 0 from the start, so that increase() sees the first one.
  for (const std::string_view reason : {"bad_request", "media_type", "overloaded", "not_durable",
                                        "alertmanager_api", "shutting_down"}) {
    values_.notifications_failed[std::string(reason)] = 0;
  }
  for (const std::string_view outcome : {"accepted", "duplicate", "ignored", "rejected"}) {
    values_.alerts[std::string(outcome)] = 0;
  }
  for (const Ignored reason : kAllIgnored)
    values_.alerts_ignored[std::string(to_string(reason))] = 0;
  for (const int status : {200, 400, 401, 404, 405, 408, 411, 413, 415, 431, 500, 503}) {
    values_.webhook_requests[status] = 0;
  }
  for (const Verdict verdict : kToldVerdicts)
    values_.decisions[std::string(to_string(verdict))] = 0;
  for (const std::string_view kind : kErrorKinds) values_.errors[std::string(kind)] = 0;
  for (const Verdict verdict : {Verdict::kQuarantine, Verdict::kRelease}) {
    values_.actions[std::string(action_of(verdict))] = 0;
    values_.action_failures[std::string(action_of(verdict))] = 0;
  }
  for (const Milestone milestone : kAllMilestones) {
    values_.since_fault.try_emplace(milestone, no_times_since_fault());
  }
}

void Counters::count(const WebhookOutcome& outcome) {
  const double seconds = std::chrono::duration<double>(outcome.took).count();
  const std::lock_guard lock(mutex_);
  ++values_.notifications;
  if (!outcome.failure.empty()) ++values_.notifications_failed[std::string(outcome.failure)];
  values_.alerts["accepted"] += outcome.accepted;
  values_.alerts["duplicate"] += outcome.duplicate;
  values_.alerts["ignored"] += outcome.ignored;
  values_.alerts["rejected"] += outcome.rejected;
  values_.truncated_alerts += outcome.truncated;
  values_.webhook_seconds += seconds;
  values_.webhook_slowest_seconds = std::max(values_.webhook_slowest_seconds, seconds);
  values_.last_notification = clock_.wall();
}

void Counters::count(Ignored reason) {
  const std::lock_guard lock(mutex_);
  ++values_.alerts_ignored[std::string(to_string(reason))];
}

void Counters::count(const AuditRecord& record) {
  const std::lock_guard lock(mutex_);
  if (record.moment == AuditMoment::kDecided) {
    ++values_.decisions[std::string(to_string(record.decision.verdict))];
  }
  if (record.action.empty()) return;
  const std::string action(record.action);
  if (record.moment == AuditMoment::kDone) ++values_.actions[action];
  if (record.moment == AuditMoment::kFailed) ++values_.action_failures[action];
}

void Counters::count_answer(int status) {
  const std::lock_guard lock(mutex_);
  ++values_.webhook_requests[status];
}

void Counters::count(const Error& error) {
  const std::lock_guard lock(mutex_);
  ++values_.errors[std::string(kErrorKinds[static_cast<std::size_t>(error.kind)])];
}

void Counters::count(Milestone milestone, std::chrono::duration<double> since_fault) {
  const std::lock_guard lock(mutex_);
  values_.since_fault.at(milestone).observe(since_fault.count());
}

CounterValues Counters::values() const {
  const std::lock_guard lock(mutex_);
  return values_;
}

}  // namespace gpuward::remediator
