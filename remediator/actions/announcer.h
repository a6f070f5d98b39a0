// Events on the Node, for `kubectl describe node`: mostly best effort, on a thread of its own, so
// that a slow or failing Events API never holds up an action. What an operator must hear is told at
// once, by whoever waits for it. Used by execution/.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <stop_token>
#include <thread>

#include "core/kube/api.h"

namespace gpuward::remediator {

// The seam; tests collect what is said.
class Announcer {
 public:
  virtual ~Announcer() = default;
  // Any thread; never blocks.
  virtual void announce(kube::NodeEvent event) = 0;
  // Any thread; blocks until it is said. An error: it may have to be said again.
  [[nodiscard]] virtual Status deliver(const kube::NodeEvent& event) = 0;
};

class EventAnnouncer final : public Announcer {
 public:
  explicit EventAnnouncer(kube::Api& api);  // must outlive this
  void announce(kube::NodeEvent event) override;
  [[nodiscard]] Status deliver(const kube::NodeEvent& event) override;
  // Events that were dropped or refused.
  [[nodiscard]] std::uint64_t lost() const { return lost_; }

 private:
  void run(const std::stop_token& stop);

  kube::Api& api_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::deque<kube::NodeEvent> waiting_;
  std::atomic<std::uint64_t> lost_{0};
  std::jthread thread_;
};

}  // namespace gpuward::remediator
