#include "exporter/store/state_saver.h"

#include <exception>
#include <string>
#include <utility>

namespace gpuward::exporter {
namespace {

// After a change: a burst of events within this time shares one write.
constexpr std::chrono::milliseconds kShortestPause{100};
// Without a change: every line of the log moves the position.
constexpr std::chrono::milliseconds kPositionInterval{5'000};

}  // namespace

StateSaver::StateSaver(Store& store, StateFile file, Clock& clock, Log& log)
    : store_(store), file_(std::move(file)), clock_(clock), log_(log) {
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

StateSaver::~StateSaver() {
  thread_.request_stop();
  thread_.join();
}

void StateSaver::run(const std::stop_token& stop) {
  std::uint64_t seen = 0;
  while (!stop.stop_requested()) {
    seen = store_.wait_for_change(seen, kPositionInterval, stop);
    save();
    clock_.sleep_for(kShortestPause, stop);
  }
  save();
}

Status StateSaver::write_if_changed() try {
  std::string text = to_state_json(store_.state());
  if (text == saved_) return {};
  auto status = file_.save(text);
  if (status) saved_ = std::move(text);
  return status;
} catch (const std::exception& error) {
  return fail(ErrorKind::kInternal, std::string("saving the state: ") + error.what());
}

void StateSaver::save() {
  const Status status = write_if_changed();
  const bool was_good = !store_.health().state_fault;
  store_.update_health([&](Health& health) {
    health.state_fault.reset();
    if (!status) health.state_fault = status.error().message;
  });
  if (!status && was_good) {
    log_.error(
        "Failed to save state; a restart would count the events in the kernel log a second time",
        {{"error", status.error().message}});
  }
}

}  // namespace gpuward::exporter
