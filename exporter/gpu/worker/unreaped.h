// Workers that have been killed and are not gone yet. One that waits inside the driver cannot be
// killed and stays for as long as the driver wants: it is not waited for, and not many are piled
// up. Used by WorkerSource.
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
  // Its wait status once it is gone, without waiting; repeatable.
  [[nodiscard]] virtual std::optional<int> try_reap() = 0;
};

class Unreaped {
 public:
  // So many may wait inside the driver; then no further worker is started until one is gone.
  static constexpr std::size_t kMost = 2;

  void add(std::unique_ptr<Reapable> killed, Clock::Steady now);
  // Forgets those that are gone.
  void bury();
  [[nodiscard]] bool is_empty() const { return killed_.empty(); }
  // For one more, where `others` may join them.
  [[nodiscard]] bool has_room(std::size_t others) const { return killed_.size() + others < kMost; }

  // Whether one has outlived SIGKILL by more than a process that can be killed does.
  [[nodiscard]] bool has_stuck(Clock::Steady now) const;
  // When to look again.
  [[nodiscard]] Clock::Steady next_look(Clock::Steady now) const;

 private:
  struct Killed {
    std::unique_ptr<Reapable> process;
    Clock::Steady since;
  };
  std::vector<Killed> killed_;
};

}  // namespace gpuward::exporter
