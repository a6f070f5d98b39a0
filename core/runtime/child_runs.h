// Child processes that run on their own threads and are identified by a name, for callers that must
// not wait for them. Used by the remediator's step restart-job.
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

// Thread-safe.
class ChildRuns {
 public:
  // `clock` must outlive it.
  ChildRuns(Clock& clock, std::size_t most_at_once);
  ~ChildRuns();  // ends the running ones and waits for them
  ChildRuns(const ChildRuns&) = delete;
  ChildRuns& operator=(const ChildRuns&) = delete;

  // False if a run of that name is known already, or if too many run. Each run sets its own
  // `command.stop`.
  [[nodiscard]] bool start(const std::string& name, ChildCommand command);
  struct Look {
    bool is_known = false;
    std::optional<Result<ChildResult>> ended = {};
  };
  // Returns the state of a run. Its result is kept until stop(); of the runs that are never
  // stopped, the results of the latest are kept.
  [[nodiscard]] Look look(const std::string& name);
  // Ends the run and forgets it.
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
