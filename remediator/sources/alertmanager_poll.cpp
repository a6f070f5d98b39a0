#include "remediator/sources/alertmanager_poll.h"

#include <utility>
#include <vector>

#include "remediator/sources/orders.h"

namespace gpuward::remediator {

AlertmanagerPoll::AlertmanagerPoll(PollOptions options, FiringAlerts& firing, Intake& intake,
                                   Clock& clock, std::function<void(const Error&)> on_error)
    : options_(options),
      firing_(firing),
      intake_(intake),
      clock_(clock),
      on_error_(std::move(on_error)),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

AlertmanagerPoll::~AlertmanagerPoll() {
  thread_.request_stop();
  thread_.join();
}

void AlertmanagerPoll::run(const std::stop_token& stop) {
  while (clock_.sleep_for(options_.every, stop)) {
    if (auto status = round(); !status) on_error_(status.error());
  }
}

Status AlertmanagerPoll::round() {
  const auto alerts = read();
  if (!alerts) return std::unexpected(alerts.error());
  const Orders orders = to_orders_under(options_.policy, *alerts);
  const auto taken = intake_.take(orders.orders, clock_.steady() + options_.take_within);
  if (!taken) return with_context("alerts read from Alertmanager", taken.error());
  return {};
}

Result<std::vector<Alert>> AlertmanagerPoll::read() {
  const std::lock_guard lock(mutex_);
  auto alerts = firing_.read(options_.read_within);
  if (!alerts) return alerts;
  known_.clear();
  for (const Alert& alert : *alerts) known_.insert(alert.fingerprint);
  read_at_ = clock_.steady();
  return alerts;
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
