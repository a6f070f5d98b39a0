#include "remediator/inbox/sources/alertmanager_webhook.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "core/runtime/json.h"
#include "core/runtime/text.h"
#include "remediator/inbox/sources/alertmanager_alerts.h"
#include "remediator/inbox/sources/monitor_event.h"

namespace gpuward::remediator {

struct AlertmanagerWebhook::Answer {
  WebhookOutcome outcome;
  std::vector<BadAlert> rejected;
  std::string body;

  [[nodiscard]] static Answer refusal(int status, std::string_view failure,
                                      std::string_view message);
};

namespace {

// Alertmanager logs the whole body of an answer: only a few problems are named, the rest are
// counted.
constexpr std::size_t kNamedProblems = 5;

bool is_json(std::string_view content_type) {
  std::string type(trim(content_type.substr(0, content_type.find(';'))));
  std::transform(type.begin(), type.end(), type.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return type == "application/json";
}

std::string error_body(std::string_view message) {
  return dump_json({{"error", to_valid_utf8(message, 512)}}) + "\n";
}

std::string success_body(const WebhookOutcome& outcome, const std::vector<BadAlert>& rejected) {
  Json body = {{"accepted", outcome.accepted},
               {"duplicate", outcome.duplicate},
               {"ignored", outcome.ignored},
               {"rejected", outcome.rejected}};
  Json problems = Json::array();
  for (std::size_t i = 0; i < std::min(rejected.size(), kNamedProblems); ++i) {
    problems.push_back("alerts[" + std::to_string(rejected[i].index) + "]: " + rejected[i].what);
  }
  if (!problems.empty()) body["problems"] = std::move(problems);
  return dump_json(body) + "\n";
}

// Counts the running requests; over the limit is_free() is false.
class Slot {
 public:
  Slot(std::atomic<std::size_t>& count, std::size_t limit)
      : count_(count), free_(count.fetch_add(1) < limit) {}
  ~Slot() { count_.fetch_sub(1); }
  Slot(const Slot&) = delete;
  Slot& operator=(const Slot&) = delete;
  [[nodiscard]] bool is_free() const { return free_; }

 private:
  std::atomic<std::size_t>& count_;
  bool free_;
};

}  // namespace

AlertmanagerWebhook::AlertmanagerWebhook(WebhookOptions options, Intake& intake,
                                         FiringAlerts* firing, WebhookObserver& observer,
                                         Clock& clock)
    : options_(options), intake_(intake), firing_(firing), observer_(observer), clock_(clock) {}

http::Response AlertmanagerWebhook::handle(const http::Request& request) {
  return respond(request, [this](const std::string& body) { return take_notification(body); });
}

http::Response AlertmanagerWebhook::handle_event(const http::Request& request) {
  return respond(request, [this](const std::string& body) { return take_event(body); });
}

http::Response AlertmanagerWebhook::respond(const http::Request& request, const Take& take) {
  const Clock::Steady begin = clock_.steady();
  Answer result = answer(request, take);
  result.outcome.took = clock_.steady() - begin;
  observer_.on_notification(result.outcome);
  return http::Response::json(result.outcome.status, std::move(result.body));
}

AlertmanagerWebhook::Answer AlertmanagerWebhook::Answer::refusal(int status,
                                                                 std::string_view failure,
                                                                 std::string_view message) {
  Answer refusal;
  refusal.outcome.status = status;
  refusal.outcome.failure = failure;
  refusal.body = error_body(message);
  return refusal;
}

AlertmanagerWebhook::Answer AlertmanagerWebhook::answer(const http::Request& request,
                                                        const Take& take) {
  if (closed_) return Answer::refusal(503, "shutting_down", "shutting down; try again");
  const Slot slot(in_flight_, options_.max_in_flight);
  if (!slot.is_free())
    return Answer::refusal(503, "overloaded", "too many notifications at once; try again");
  if (!is_json(request.header("Content-Type"))) {
    return Answer::refusal(415, "media_type", "Content-Type must be application/json");
  }
  return take(request.body);
}

AlertmanagerWebhook::Answer AlertmanagerWebhook::take_notification(const std::string& body) {
  SignalCollector collector(options_.policy);
  const auto notification = decode_notification(
      body, options_.limits, [&collector](const Alert& alert) { collector.add(alert); });
  if (!notification) return Answer::refusal(400, "bad_request", notification.error().message);
  return deliver(*notification, collector.take());
}

AlertmanagerWebhook::Answer AlertmanagerWebhook::take_event(const std::string& body) {
  const std::string cluster = options_.policy == nullptr ? "" : options_.policy->get()->cluster;
  const auto signal = signal_of_event(body, clock_.wall(), cluster);
  if (!signal) return Answer::refusal(400, "bad_request", signal.error().message);
  Answer result;
  const Clock::Steady deadline = clock_.steady() + options_.answer_within;
  if (!*signal) {
    ++result.outcome.ignored;
  } else if (auto taken = take(std::span(&**signal, 1), deadline, result.outcome); !taken) {
    return Answer::refusal(503, "not_durable", taken.error().message);
  }
  result.outcome.status = 200;
  result.body = success_body(result.outcome, {});
  return result;
}

// The alerts in the body are made durable first: they must not get lost if the rest cannot be read.
AlertmanagerWebhook::Answer AlertmanagerWebhook::deliver(const Notification& notification,
                                                         AlertSignals signals) {
  Answer result;
  result.outcome.truncated = notification.truncated_alerts;
  const auto unavailable = [&result](std::string_view failure, const Error& error) {
    result.outcome.status = 503;
    result.outcome.failure = failure;
    result.body = error_body(error.message);
    return result;
  };
  const Clock::Steady deadline = clock_.steady() + options_.answer_within;
  end_without_rule(signals);
  const bool has_heartbeat = signals.has_heartbeat;
  const bool has_foreign_heartbeat = signals.has_foreign_heartbeat;
  if (auto taken = take(std::move(signals), deadline, result); !taken) {
    return unavailable("not_durable", taken.error());
  }
  if (notification.truncated_alerts > 0 && firing_ != nullptr) {
    const std::lock_guard lock(cut_off_);
    auto cut_off = read_cut_off(deadline);
    if (!cut_off) return unavailable("alertmanager_api", cut_off.error());
    if (auto taken = take(*std::move(cut_off), deadline, result); !taken) {
      return unavailable("not_durable", taken.error());
    }
  }
  result.outcome.status = 200;
  result.body = success_body(result.outcome, result.rejected);
  note_call(notification, has_heartbeat, has_foreign_heartbeat);
  return result;
}

// A notification that does not name its sender comes from a probe.
void AlertmanagerWebhook::note_call(const Notification& notification, bool has_heartbeat,
                                    bool has_foreign_heartbeat) {
  const WebhookCall call{
      .at = clock_.wall(), .receiver = notification.receiver, .sender = notification.external_url};
  if (call.receiver.empty() && call.sender.empty()) return;
  const std::lock_guard lock(calls_mutex_);
  calls_.any = call;
  if (has_heartbeat) calls_.heartbeat = call;
  if (has_foreign_heartbeat) calls_.foreign_heartbeat = call;
}

WebhookCalls AlertmanagerWebhook::calls() const {
  const std::lock_guard lock(calls_mutex_);
  return calls_;
}

void AlertmanagerWebhook::end_without_rule(AlertSignals& signals) const {
  if (options_.known == nullptr || signals.ends_without_rule.empty()) return;
  std::map<std::string_view, const EndWithoutRule*> ends;
  for (const EndWithoutRule& end : signals.ends_without_rule)
    ends.insert_or_assign(end.fingerprint, &end);
  for (AlertSignal& known : options_.known->firing_from("")) {
    const auto found = ends.find(known.fingerprint);
    if (found == ends.end()) continue;
    known.firing = false;
    known.starts_at = found->second->starts_at;
    known.ends_at = found->second->ends_at;
    signals.signals.push_back(std::move(known));
    --signals.ignored;
    ends.erase(found);
  }
}

// Reads the alerts that were cut off a notification.
Result<AlertSignals> AlertmanagerWebhook::read_cut_off(Clock::Steady deadline) {
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(deadline - clock_.steady()) / 2;
  const auto alerts = firing_->read(std::max(left, std::chrono::milliseconds(1)));
  if (!alerts) return std::unexpected(alerts.error());
  SignalCollector collector(options_.policy);
  for (const Alert& alert : *alerts) {
    if (!alert.is_suppressed) collector.add(alert);
  }
  return collector.take();
}

Status AlertmanagerWebhook::take(AlertSignals signals, Clock::Steady deadline, Answer& answer) {
  if (signals.count() == 0) return {};
  if (auto taken = take(signals.signals, deadline, answer.outcome); !taken) return taken;
  answer.outcome.ignored += signals.ignored;
  answer.outcome.rejected += signals.rejected.size();
  if (answer.outcome.problem.empty() && !signals.rejected.empty())
    answer.outcome.problem = signals.rejected.front().what;
  std::move(signals.rejected.begin(), signals.rejected.end(), std::back_inserter(answer.rejected));
  return {};
}

Status AlertmanagerWebhook::take(std::span<const AlertSignal> signals, Clock::Steady deadline,
                                 WebhookOutcome& outcome) {
  const auto counts = intake_.take(signals, deadline);
  if (!counts) return std::unexpected(counts.error());
  outcome.accepted += counts->accepted;
  outcome.duplicate += counts->duplicate;
  outcome.ignored += counts->ignored;
  return {};
}

}  // namespace gpuward::remediator
