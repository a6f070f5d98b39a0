// Serves POST /api/v1/alerts, the webhook of an Alertmanager, and POST /api/v1/events for the
// monitor that gpuward replaces. It answers 200 only when the signals are in the API server, and
// 503 if they are not there in time. Alertmanager retries a 503 within seconds, but does not retry
// a 429. It answers 4xx to requests that can never succeed. It never redirects, because
// Alertmanager counts a redirect as delivered.
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
#include "remediator/cluster/known_evidence.h"
#include "remediator/inbox/sources/alertmanager_api.h"
#include "remediator/inbox/sources/connections.h"
#include "remediator/inbox/sources/intake.h"
#include "remediator/inbox/sources/webhook_observer.h"
#include "remediator/policy/current_policy.h"

namespace gpuward::remediator {

struct WebhookOptions {
  PayloadLimits limits = {};
  // Limit for the write to the API server, after the body is read.
  std::chrono::milliseconds answer_within{900};
  std::size_t max_in_flight = 32;  // Further requests get 503 at once.
  // Policy with the foreign_alerts; null: none apply.
  const CurrentPolicy* policy = nullptr;
  // Used to end, by fingerprint, alerts with a rule that was removed from the policy; null: none
  // end.
  const KnownEvidence* known = nullptr;
};

class AlertmanagerWebhook {
 public:
  // The arguments must outlive the webhook; `firing` is null if no Alertmanager URL is configured.
  AlertmanagerWebhook(WebhookOptions options, Intake& intake, FiringAlerts* firing,
                      WebhookObserver& observer, Clock& clock);

  // Handles a notification. Any thread may call it, several at once.
  [[nodiscard]] http::Response handle(const http::Request& request);
  // Handles a request with one event (monitor_event.h). Any thread may call it.
  [[nodiscard]] http::Response handle_event(const http::Request& request);
  // Makes every answer 503 from now on, because the process is about to exit.
  void close() { closed_ = true; }
  // Returns the last calls accepted since the start. Thread-safe.
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
  // Held by the one thread that reads Alertmanager's alerts, no longer than a deadline. Reads are
  // limited because a small body that reports cut-off alerts makes the webhook read all alerts.
  std::mutex cut_off_;
  std::atomic<std::size_t> in_flight_{0};
  std::atomic<bool> closed_{false};
  mutable std::mutex calls_mutex_;
  WebhookCalls calls_;
};

}  // namespace gpuward::remediator
