#include "remediator/sources/alertmanager_poll.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "remediator/sources/alertmanager_alerts.h"

namespace gpuward::remediator {

namespace {

std::set<std::string> fingerprints_of(const std::vector<Alert>& alerts) {
  std::set<std::string> fingerprints;
  for (const Alert& alert : alerts) fingerprints.insert(alert.fingerprint);
  return fingerprints;
}

// Its own are the 16 digits of fingerprint_of(), and no other source's are.
bool is_of_alertmanager(std::string_view fingerprint) {
  return fingerprint.size() == 16 &&
         fingerprint.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
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
  auto alerts = read();
  if (!alerts) {
    absent_.forget();
    return std::unexpected(alerts.error());
  }
  std::vector<AlertSignal> over = ended(*alerts);
  // Alerts that are silenced or inhibited fire too, but ask for nothing.
  std::erase_if(*alerts, [](const Alert& alert) { return alert.is_suppressed; });
  SignalCollector collector(options_.policy);
  for (const Alert& alert : *alerts) collector.add(alert);
  AlertSignals signals = collector.take();
  std::ranges::move(over, std::back_inserter(signals.signals));
  const auto taken = intake_.take(signals.signals, clock_.steady() + options_.take_within);
  if (!taken) return with_context("alerts read from Alertmanager", taken.error());
  return {};
}

Result<std::vector<Alert>> AlertmanagerPoll::read() {
  const std::lock_guard lock(mutex_);
  auto alerts = firing_.read(options_.read_within);
  if (!alerts) return alerts;
  known_.clear();
  for (const Alert& alert : *alerts) {
    if (!alert.is_suppressed) known_.insert(alert.fingerprint);
  }
  read_at_ = clock_.steady();
  return alerts;
}

// The other sources say themselves when something of theirs has ended.
std::vector<AlertSignal> AlertmanagerPoll::ended(const std::vector<Alert>& alerts) {
  if (options_.known == nullptr) return {};
  std::vector<AlertSignal> known = options_.known->firing_from({});
  std::erase_if(known,
                [](const AlertSignal& signal) { return !is_of_alertmanager(signal.fingerprint); });
  return absent_.ended(std::move(known), fingerprints_of(alerts), clock_);
}

Result<std::set<std::string>> AlertmanagerPoll::all_firing() {
  const auto alerts = read();
  if (!alerts) return std::unexpected(alerts.error());
  return fingerprints_of(*alerts);
}

Result<std::set<std::string>> AlertmanagerPoll::fingerprints() {
  {
    const std::lock_guard lock(mutex_);
    if (read_at_ && clock_.steady() - *read_at_ < options_.fresh_for) return known_;
  }
  const auto alerts = read();
  if (!alerts) return std::unexpected(alerts.error());
  const std::lock_guard lock(mutex_);
  return known_;
}

}  // namespace gpuward::remediator
