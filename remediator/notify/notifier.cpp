#include "remediator/notify/notifier.h"

#include <utility>

namespace gpuward::remediator {

Notifier::Notifier(SinkServices services, Clock& clock, Log& log,
                   std::function<void(const std::string& node)> look_at)
    : services_(services), clock_(clock), log_(log), look_at_(std::move(look_at)) {}

Notifier::~Notifier() { request_stop(); }

Result<Notifier::Leaving> Notifier::set_sinks(const std::vector<SinkSettings>& settings) {
  Workers next;
  for (const SinkSettings& sink : settings) {
    const auto known = worker(sink.name);
    if (known && known->settings() == sink) {
      next.emplace(sink.name, known);
      continue;
    }
    auto made = make_worker(sink);
    if (!made) return std::unexpected(made.error());
    next.emplace(sink.name, std::move(*made));
  }
  {
    const std::lock_guard lock(mutex_);
    workers_.swap(next);
  }
  Leaving leaving;
  for (const auto& [name, old] : next) {
    if (worker(name) == old) continue;
    old->request_stop();
    leaving.push_back(old);
  }
  return leaving;
}

Result<std::shared_ptr<SinkWorker>> Notifier::make_worker(const SinkSettings& settings) {
  auto sink = open_sink(settings, services_);
  if (!sink) return std::unexpected(sink.error());
  return std::make_shared<SinkWorker>(
      settings, std::move(*sink), clock_, log_,
      [this](const NotificationEvent& event) { look_at_(event.node_name); });
}

std::shared_ptr<SinkWorker> Notifier::worker(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const auto found = workers_.find(name);
  return found == workers_.end() ? nullptr : found->second;
}

bool Notifier::are_notified(const NotificationEvent& event, const std::vector<std::string>& sinks) {
  bool all = true;
  for (const std::string& name : sinks) {
    const auto sink = worker(name);
    const bool has_ended = !sink || sink->has_ended(event);
    all = all && has_ended;
  }
  return all;
}

std::vector<SinkTally> Notifier::tallies() const {
  const std::lock_guard lock(mutex_);
  std::vector<SinkTally> tallies;
  for (const auto& [name, sink] : workers_) tallies.push_back(sink->tally());
  return tallies;
}

void Notifier::request_stop() {
  const std::lock_guard lock(mutex_);
  for (const auto& [name, sink] : workers_) sink->request_stop();
}

}  // namespace gpuward::remediator
