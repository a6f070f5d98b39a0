// Delivers the reconciler's notifications to the sinks of the policy without delaying the
// reconciler. The Remediation keeps each notification until every sink has accepted it or given up
// (model/notice). Made by the composition root.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/runtime/clock.h"
#include "core/runtime/log.h"
#include "remediator/notify/sink_worker.h"

namespace gpuward::remediator {

// The interface for act/. Tests implement it to collect the notifications.
class Notifications {
 public:
  virtual ~Notifications() = default;
  // Passes the event to the sinks that do not have it yet. Any thread may call it; it never blocks.
  // Returns true once all sinks have accepted the event or given up; until then the caller asks
  // again. A sink that is no longer in the policy counts as done.
  [[nodiscard]] virtual bool are_notified(const NotificationEvent& event,
                                          const std::vector<std::string>& sinks) = 0;
};

class Notifier final : public Notifications {
 public:
  // Calls `look_at` on a sink's thread with a node after delivery of its event has ended. Services,
  // clock and log must outlive this object.
  Notifier(SinkServices services, Clock& clock, Log& log,
           std::function<void(const std::string& node)> look_at);
  ~Notifier() override;
  Notifier(const Notifier&) = delete;
  Notifier& operator=(const Notifier&) = delete;

  // Workers of sinks that are no longer in the policy. They are already asked to stop; dropping the
  // last reference waits for their threads.
  using Leaving = std::vector<std::shared_ptr<SinkWorker>>;
  // Replaces the sinks; unchanged sinks keep running. Called on one thread; does not wait for a
  // sink. After an error the sinks are unchanged. The caller must request events again that a
  // removed sink had not delivered.
  [[nodiscard]] Result<Leaving> set_sinks(const std::vector<SinkSettings>& settings);
  [[nodiscard]] bool are_notified(const NotificationEvent& event,
                                  const std::vector<std::string>& sinks) override;
  [[nodiscard]] std::vector<SinkTally> tallies() const;
  void request_stop();

 private:
  using Workers = std::map<std::string, std::shared_ptr<SinkWorker>>;
  [[nodiscard]] std::shared_ptr<SinkWorker> worker(const std::string& name) const;
  [[nodiscard]] Result<std::shared_ptr<SinkWorker>> make_worker(const SinkSettings& settings);

  const SinkServices services_;
  Clock& clock_;
  Log& log_;
  const std::function<void(const std::string& node)> look_at_;
  mutable std::mutex mutex_;
  Workers workers_;  // By name.
};

}  // namespace gpuward::remediator
