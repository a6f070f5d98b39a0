// Writes Events on the Node, for `kubectl describe node`. A separate thread sends most Events, so
// that a slow or failing Events API never delays an action; Events may be lost. A caller that needs
// certainty calls deliver() and waits. Used by act/.
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

// The interface of the announcer. Tests implement it to collect the events.
class Announcer {
 public:
  virtual ~Announcer() = default;
  // Queues the event. Any thread may call it; the call never blocks.
  virtual void announce(kube::NodeEvent event) = 0;
  // Sends the event and returns when the API server has answered. Any thread may call it. After an
  // error the event may be missing, and the caller may have to send it again.
  [[nodiscard]] virtual Status deliver(const kube::NodeEvent& event) = 0;
};

class EventAnnouncer final : public Announcer {
 public:
  explicit EventAnnouncer(kube::Api& api);  // The API client must outlive the announcer.
  void announce(kube::NodeEvent event) override;
  [[nodiscard]] Status deliver(const kube::NodeEvent& event) override;
  // Returns the number of Events that were dropped or that the API server refused.
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
