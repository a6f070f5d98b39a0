// Workers that were killed but have not exited yet. A process that waits inside the driver cannot
// be killed and stays until the driver returns: gpuward does not wait for it, and limits the number
// of such processes. Used by WorkerSource.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "core/runtime/clock.h"

namespace gpuward::exporter {

class Reapable {
 public:
  virtual ~Reapable() = default;
  // Returns its wait status once it has exited, without waiting; repeatable.
  [[nodiscard]] virtual std::optional<int> try_reap() = 0;
};

class Unreaped {
 public:
  // The most processes that may wait inside the driver; no further worker is started until one
  // exits.
  static constexpr std::size_t kMost = 2;

  void add(std::unique_ptr<Reapable> killed, Clock::Steady now);
  // Forgets those that have exited.
  void bury();
  [[nodiscard]] bool is_empty() const { return killed_.empty(); }
  // Whether one more fits if `others` may join them.
  [[nodiscard]] bool has_room(std::size_t others) const { return killed_.size() + others < kMost; }

  // Whether one has survived SIGKILL longer than a killable process does.
  [[nodiscard]] bool has_stuck(Clock::Steady now) const;
  // The time of the next check.
  [[nodiscard]] Clock::Steady next_look(Clock::Steady now) const;

 private:
  struct Killed {
    std::unique_ptr<Reapable> process;
    Clock::Steady since;
  };
  std::vector<Killed> killed_;
};

}  // namespace gpuward::exporter
