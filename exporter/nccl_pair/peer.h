// The other side of a pair after the meeting: a separate thread receives its messages, so that a
// thread that waits for GPUs notices them too. Used by Pair.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "core/runtime/clock.h"
#include "exporter/nccl_pair/link.h"
#include "exporter/nccl_pair/message.h"

namespace gpuward::exporter::nccl_pair {

class Peer {
 public:
  // Receives messages until `until` at the latest.
  Peer(Link link, const Clock& clock, Link::Deadline until);
  ~Peer();  // hangs up
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  // Any thread, for all functions. A message that cannot be sent shows as is_gone().
  void tell(const Message& message);
  [[nodiscard]] bool has_joined() const;
  [[nodiscard]] std::optional<SideResult> report() const;
  // The other side has disconnected without a report, or sent an invalid message.
  [[nodiscard]] bool is_gone() const;
  // Whether to stop early: it is gone, or has sent a report that is not a measurement.
  [[nodiscard]] bool has_ended_early() const;

  // Blocks until it has joined, or no longer can; false at the deadline.
  bool wait_for_join(Link::Deadline deadline) const;
  // Blocks until it has reported or is gone; false at the deadline.
  bool wait_for_report(Link::Deadline deadline) const;

 private:
  void hear(Link::Deadline until);
  bool take(const Message& message);       // false: the message is invalid at this point
  [[nodiscard]] bool ended_early() const;  // with the lock held

  Link link_;
  const Clock& clock_;
  std::mutex sending_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  bool has_joined_ = false;
  bool is_gone_ = false;
  std::optional<SideResult> report_;
  std::jthread thread_;
};

}  // namespace gpuward::exporter::nccl_pair
