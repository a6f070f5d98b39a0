// The process group of one child: detects the end of its leader, and ends the group. The leader is
// reaped only after the last signal was sent, so that its number cannot pass to another process
// before that. Inside core/runtime only.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>

#include "core/runtime/clock.h"

namespace gpuward {

class ChildGroup {
 public:
  // end() calls `pause` between two checks; it takes a short time.
  ChildGroup(pid_t leader, Clock& clock, std::function<void()> pause);
  ~ChildGroup();
  ChildGroup(const ChildGroup&) = delete;
  ChildGroup& operator=(const ChildGroup&) = delete;

  // Becomes readable when the leader ends; -1 if the kernel does not support this: then poll
  // leader_has_ended().
  [[nodiscard]] int descriptor() const { return descriptor_; }
  [[nodiscard]] bool leader_has_ended() const;

  // Sends SIGTERM (not if `grace` is zero), SIGKILL after `grace`, and waits up to 5 s for all
  // members to end. False if some did not. Call it once.
  bool end(std::chrono::milliseconds grace);

  // The status of waitpid(), if the leader has ended; after end().
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
