// POST /api/v1/alerts: the webhook of an Alertmanager; POST /api/v1/events: that of the monitor
// that gpuward replaces. Answers 200 only when the signals are in the API server, 503 if that did
// not happen in time (Alertmanager retries it within seconds, but would not retry a 429), and 4xx
// for requests that can never succeed. It never redirects: Alertmanager would count that as
// delivered.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "core/http/server/server.h"
#include "core/runtime/clock.h"
#include "remediator/policy/current_policy.h"
#include "remediator/sources/alertmanager_api.h"
#include "remediator/sources/connections.h"
#include "remediator/sources/intake.h"
#include "remediator/sources/known_evidence.h"
#include "remediator/sources/webhook_observer.h"

namespace gpuward::remediator {

struct WebhookOptions {
  PayloadLimits limits = {};
  std::chrono::milliseconds answer_within{900};  // for the durable part, once the body is read
  std::size_t max_in_flight = 32;                // further ones get 503 at once
  const CurrentPolicy* policy = nullptr;         // whose foreign_alerts apply; null: none
  // Ends alerts, by their fingerprint, whose rule was removed from the policy; null: none.
  const KnownEvidence* known = nullptr;
};

class AlertmanagerWebhook {
 public:
  // All must outlive the webhook; `firing` is null if no Alertmanager URL is configured.
  AlertmanagerWebhook(WebhookOptions options, Intake& intake, FiringAlerts* firing,
                      WebhookObserver& observer, Clock& clock);

  // Any thread, several at once.
  [[nodiscard]] http::Response handle(const http::Request& request);
  // One event per request (monitor_event.h). Any thread too.
  [[nodiscard]] http::Response handle_event(const http::Request& request);
  // From now on every answer is 503: the process is about to exit.
  void close() { closed_ = true; }
  // The calls accepted since the start. Thread-safe.
  [[nodiscard]] WebhookCalls calls() const;

 private:
  struct Answer;
  using Take = std::function<Answer(const std::string& body)>;
  [[nodiscard]] http::Response respond(const http::Request& request, const Take& take);
  [[nodiscard]] Answer answer(const http::Request& request, const Take& take);
  [[nodiscard]] Answer take_notification(const std::string& body);
  [[nodiscard]] Answer take_event(const std::string& body);
  [[nodiscard]] Answer deliver(const Notification& notification, AlertSignals signals);
  void end_without_rule(AlertSignals& signals) const;
  [[nodiscard]] Status take(AlertSignals signals, Clock::Steady deadline, Answer& answer);
  [[nodiscard]] Status take(std::span<const AlertSignal> signals, Clock::Steady deadline,
                            WebhookOutcome& outcome);
  void note_call(const Notification& notification, bool has_heartbeat, bool has_foreign_heartbeat);
  [[nodiscard]] Result<AlertSignals> read_cut_off(Clock::Steady deadline);

  WebhookOptions options_;
  Intake& intake_;
  FiringAlerts* firing_;
  WebhookObserver& observer_;
  Clock& clock_;
  // One reader of Alertmanager's alerts at a time: there may be many, and a small body that reports
  // cut-off alerts makes the webhook read them. Held no longer than a deadline.
  std::mutex cut_off_;
  std::atomic<std::size_t> in_flight_{0};
  std::atomic<bool> closed_{false};
  mutable std::mutex calls_mutex_;
  WebhookCalls calls_;
};

}  // namespace gpuward::remediator
