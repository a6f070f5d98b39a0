#include "core/runtime/child_runs.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>

namespace gpuward {

struct ChildRuns::Run {
  Run(ChildCommand what, Clock& clock) : command(std::move(what)) {
    thread = std::jthread([this, &clock](const std::stop_token& stop) {
      pthread_setname_np(pthread_self(), "child-run");
      command.stop = stop;
      result = run_child(command, clock);
      is_over = true;
    });
  }

  ChildCommand command;
  std::optional<Result<ChildResult>> result;  // read once it is over
  std::atomic<bool> is_over{false};
  std::uint64_t number = 0;  // in the order of their starts
  std::jthread thread;
};

ChildRuns::ChildRuns(Clock& clock, std::size_t most_at_once) : clock_(clock), most_(most_at_once) {}

ChildRuns::~ChildRuns() {
  for (auto& [name, run] : runs_) run->thread.request_stop();
}

bool ChildRuns::start(const std::string& name, ChildCommand command) {
  std::unique_ptr<Run> forgotten;  // ends outside the lock
  const std::lock_guard lock(mutex_);
  const auto running = static_cast<std::size_t>(
      std::ranges::count_if(runs_, [](const auto& known) { return !known.second->is_over; }));
  if (running >= most_ || runs_.contains(name)) return false;
  if (runs_.size() >= 2 * most_) forgotten = take_oldest_ended();
  auto run = std::make_unique<Run>(std::move(command), clock_);
  run->number = ++started_;
  runs_.emplace(name, std::move(run));
  return true;
}

std::unique_ptr<ChildRuns::Run> ChildRuns::take_oldest_ended() {
  auto oldest = runs_.end();
  for (auto it = runs_.begin(); it != runs_.end(); ++it) {
    const bool is_older = oldest == runs_.end() || it->second->number < oldest->second->number;
    if (it->second->is_over && is_older) oldest = it;
  }
  return oldest == runs_.end() ? nullptr : std::move(runs_.extract(oldest).mapped());
}

ChildRuns::Look ChildRuns::look(const std::string& name) {
  const std::lock_guard lock(mutex_);
  const auto found = runs_.find(name);
  if (found == runs_.end()) return {};
  return {.is_known = true, .ended = found->second->is_over ? found->second->result : std::nullopt};
}

void ChildRuns::stop(const std::string& name) {
  std::unique_ptr<Run> stopped;  // ends outside the lock
  const std::lock_guard lock(mutex_);
  if (const auto node = runs_.extract(name)) stopped = std::move(node.mapped());
}

}  // namespace gpuward
