#include "core/runtime/child_runs.h"

#include <pthread.h>

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
  std::jthread thread;
};

ChildRuns::ChildRuns(Clock& clock, std::size_t most_at_once)
    : clock_(clock), most_(most_at_once) {}

ChildRuns::~ChildRuns() {
  for (auto& [name, run] : runs_) run->thread.request_stop();
}

bool ChildRuns::start(const std::string& name, ChildCommand command) {
  const std::lock_guard lock(mutex_);
  if (runs_.size() >= most_ || runs_.contains(name)) return false;
  runs_.emplace(name, std::make_unique<Run>(std::move(command), clock_));
  return true;
}

ChildRuns::Look ChildRuns::look(const std::string& name) {
  if (const auto run = take(name, true)) return {.is_known = true, .ended = std::move(run->result)};
  const std::lock_guard lock(mutex_);
  return {.is_known = runs_.contains(name)};
}

// What is taken ends outside of the lock.
void ChildRuns::stop(const std::string& name) { static_cast<void>(take(name, false)); }

std::unique_ptr<ChildRuns::Run> ChildRuns::take(const std::string& name, bool only_if_ended) {
  const std::lock_guard lock(mutex_);
  const auto found = runs_.find(name);
  if (found == runs_.end() || (only_if_ended && !found->second->is_over)) return nullptr;
  auto node = runs_.extract(found);
  return std::move(node.mapped());
}

}  // namespace gpuward
