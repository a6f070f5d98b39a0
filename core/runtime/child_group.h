// The process group of one child: whether its leader has ended, and ending all of it. The leader is
// reaped only after the last signal was sent, so that the number cannot name anybody else by then.
// Inside core/runtime only.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>

#include "core/runtime/clock.h"

namespace gpuward {

class ChildGroup {
 public:
  // `pause` is what end() does between two looks; it takes a little time.
  ChildGroup(pid_t leader, Clock& clock, std::function<void()> pause);
  ~ChildGroup();
  ChildGroup(const ChildGroup&) = delete;
  ChildGroup& operator=(const ChildGroup&) = delete;

  // Becomes readable when the leader ends; -1 where the kernel has no such thing: ask
  // leader_has_ended() now and then.
  [[nodiscard]] int descriptor() const { return descriptor_; }
  [[nodiscard]] bool leader_has_ended() const;

  // SIGTERM (none where `grace` is zero), SIGKILL after `grace`, and the end of all of them, waited
  // for at most 5 s. False where some would not go. Once.
  bool end(std::chrono::milliseconds grace);

  // The status of waitpid(), where the leader has ended; after end().
  [[nodiscard]] int status() const { return status_; }

 private:
  [[nodiscard]] bool has_running_members() const;
  [[nodiscard]] bool reap();

  pid_t leader_;
  int descriptor_;
  Clock& clock_;
  std::function<void()> pause_;
  bool reaped_ = false;
  int status_ = 0;
};

}  // namespace gpuward
