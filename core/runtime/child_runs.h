// Child processes that run on threads of their own and are looked at by a name, for callers that
// must not wait for them. Used by the remediator's step restart-job.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "core/runtime/child.h"

namespace gpuward {

// Any thread.
class ChildRuns {
 public:
  // `clock` must outlive it.
  ChildRuns(Clock& clock, std::size_t most_at_once);
  ~ChildRuns();  // ends those that run, and waits for them
  ChildRuns(const ChildRuns&) = delete;
  ChildRuns& operator=(const ChildRuns&) = delete;

  // False where a run of that name is known already, or too many run. `command.stop` is the run's
  // own, whatever it says.
  [[nodiscard]] bool start(const std::string& name, ChildCommand command);
  struct Look {
    bool is_known = false;
    std::optional<Result<ChildResult>> ended = {};
  };
  // How it ended is known until somebody stops it; of those that nobody does the last few stay.
  [[nodiscard]] Look look(const std::string& name);
  // Ends it, and forgets it.
  void stop(const std::string& name);

 private:
  struct Run;
  [[nodiscard]] std::unique_ptr<Run> take_oldest_ended();

  Clock& clock_;
  const std::size_t most_;
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<Run>> runs_;
  std::uint64_t started_ = 0;
};

}  // namespace gpuward
