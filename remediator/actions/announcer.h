// Events on the Node, for `kubectl describe node`: mostly best effort, on a separate thread, so
// that a slow or failing Events API never delays an action. A caller that must be sure that an
// operator gets an event sends it with deliver() and waits. Used by execution/.
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

// The interface; tests collect the events.
class Announcer {
 public:
  virtual ~Announcer() = default;
  // Any thread; never blocks.
  virtual void announce(kube::NodeEvent event) = 0;
  // Any thread; blocks until the event is sent. After an error the caller may have to send it
  // again.
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
