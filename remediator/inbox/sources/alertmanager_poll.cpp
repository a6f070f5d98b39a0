#include "remediator/inbox/sources/alertmanager_poll.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "remediator/inbox/sources/alertmanager_alerts.h"
#include "remediator/model/history_alerts.h"

namespace gpuward::remediator {
namespace {

using std::chrono::milliseconds;

std::set<std::string> fingerprints_of(const std::vector<Alert>& alerts) {
  std::set<std::string> fingerprints;
  for (const Alert& alert : alerts) fingerprints.insert(alert.fingerprint);
  return fingerprints;
}

// The fingerprints of all other sources except the history have an origin with a dot. If a sender
// of notifications chooses a fingerprint that Alertmanager never gives, its alert counts as absent.
bool is_of_webhook(std::string_view fingerprint) {
  return !fingerprint.contains('.') && !is_history_fingerprint(fingerprint);
}

}  // namespace

AlertmanagerPoll::AlertmanagerPoll(PollOptions options, FiringAlerts& firing, Intake& intake,
                                   Clock& clock)
    : options_(options),
      firing_(firing),
      intake_(intake),
      clock_(clock),
      absent_(options.gone_for, options.every) {}

AlertmanagerPoll::~AlertmanagerPoll() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void AlertmanagerPoll::start(std::function<void(const Error&)> on_error) {
  on_error_ = std::move(on_error);
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void AlertmanagerPoll::run(const std::stop_token& stop) {
  while (clock_.sleep_for(options_.every, stop)) {
    if (auto status = round(); !status) on_error_(status.error());
  }
}

Status AlertmanagerPoll::round() {
  std::unique_lock lock(mutex_);
  if (auto answered = read(options_.read_within); !answered) {
    absent_.forget();
    return answered;
  }
  std::vector<AlertSignal> signals = active_;
  const std::set<std::string> firing = firing_now_;
  lock.unlock();
  std::ranges::move(ended(firing), std::back_inserter(signals));
  const auto taken = intake_.take(signals, clock_.steady() + options_.take_within);
  if (!taken) return with_context("alerts read from Alertmanager", taken.error());
  return {};
}

Status AlertmanagerPoll::read(milliseconds limit) {
  const std::uint64_t number = ++begun_;
  const auto alerts = firing_.read(std::min(limit, options_.read_within));
  if (!alerts) return std::unexpected(alerts.error());
  SignalCollector collector(options_.policy);
  // Silenced and inhibited alerts also fire, but request nothing.
  for (const Alert& alert : *alerts) {
    if (!alert.is_suppressed) collector.add(alert);
  }
  active_ = collector.take().signals;
  firing_now_ = fingerprints_of(*alerts);
  read_at_ = clock_.steady();
  done_ = number;
  return {};
}

// The other sources report the ends of their alerts themselves.
std::vector<AlertSignal> AlertmanagerPoll::ended(const std::set<std::string>& firing) {
  if (options_.known == nullptr) return {};
  std::vector<AlertSignal> known = options_.known->firing_from({});
  std::erase_if(known,
                [](const AlertSignal& signal) { return !is_of_webhook(signal.fingerprint); });
  return absent_.ended(std::move(known), firing, clock_);
}

Result<std::set<std::string>> AlertmanagerPoll::all_firing(milliseconds limit) {
  const std::uint64_t before = begun_;
  const Clock::Steady end = clock_.steady() + limit;
  const std::unique_lock lock(mutex_, limit);
  if (!lock)
    return fail(ErrorKind::kTimeout, "another read of Alertmanager's alerts takes too long");
  // A read that started after this call serves all that wait for one.
  if (done_ > before) return firing_now_;
  const auto left = std::chrono::floor<milliseconds>(end - clock_.steady());
  if (left <= milliseconds(0))
    return fail(ErrorKind::kTimeout, "no time is left to ask Alertmanager");
  if (const auto answered = read(left); !answered) return std::unexpected(answered.error());
  return firing_now_;
}

Result<std::map<std::string, Severity>> AlertmanagerPoll::active_on(const std::string& node) {
  const std::lock_guard lock(mutex_);
  if (!read_at_ || clock_.steady() - *read_at_ >= options_.fresh_for) {
    if (const auto answered = read(options_.read_within); !answered)
      return std::unexpected(answered.error());
  }
  std::map<std::string, Severity> of_node;
  for (const AlertSignal& signal : active_) {
    if (signal.node == node) of_node.emplace(signal.fingerprint, signal.severity);
  }
  return of_node;
}

}  // namespace gpuward::remediator
