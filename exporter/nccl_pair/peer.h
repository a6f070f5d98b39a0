// The other side of a pair, once it was met: a thread of its own hears what it says, so that
// whoever waits for GPUs learns of it too. Used by Pair.
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
  // Hears it until then at the latest.
  Peer(Link link, const Clock& clock, Link::Deadline until);
  ~Peer();  // hangs up
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  // Any thread, all of them. What cannot be sent shows as is_gone().
  void tell(const Message& message);
  [[nodiscard]] bool has_joined() const;
  [[nodiscard]] std::optional<SideResult> report() const;
  // Hung up without a report, or said what it may not.
  [[nodiscard]] bool is_gone() const;
  // There is no sense in going on with it: gone, or a report that is no measurement.
  [[nodiscard]] bool has_ended_early() const;

  // Blocks until it has joined, or will not any more; false at the deadline.
  bool wait_for_join(Link::Deadline deadline) const;
  // Blocks until it has reported or is gone; false at the deadline.
  bool wait_for_report(Link::Deadline deadline) const;

 private:
  void hear(Link::Deadline until);
  bool take(const Message& message);       // false: it may not say that now
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
