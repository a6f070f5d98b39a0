// The events of a simulation, in order: a hash over all of them, by which two runs are compared,
// and the last lines, for the search for a fault.
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "core/runtime/clock.h"

namespace gpuward::remediator::simulation {

class Trace {
 public:
  explicit Trace(const Clock& clock) : clock_(clock), begun_(clock.steady()) {}

  void say(const std::string& what);
  [[nodiscard]] std::uint64_t hash() const { return hash_; }
  [[nodiscard]] std::uint64_t lines() const { return lines_; }
  [[nodiscard]] const std::deque<std::string>& last() const { return last_; }

 private:
  const Clock& clock_;
  Clock::Steady begun_;
  std::uint64_t hash_ = 0xcbf29ce484222325U;  // FNV-1a
  std::uint64_t lines_ = 0;
  std::deque<std::string> last_;
};

}  // namespace gpuward::remediator::simulation
