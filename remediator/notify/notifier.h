// Delivers the reconciler's notifications to the sinks of the policy, without ever delaying it. The
// Remediation keeps each notification until every sink is done with it (model/notice). Made by the
// composition root.
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

// The seam to execution/; tests collect the notifications.
class Notifications {
 public:
  virtual ~Notifications() = default;
  // Any thread; never blocks. Passes the event to those sinks that do not have it yet. True once
  // all of them have accepted it or have given up; the caller asks again until then. A sink that is
  // no longer in the policy counts as done.
  [[nodiscard]] virtual bool are_notified(const NotificationEvent& event,
                                          const std::vector<std::string>& sinks) = 0;
};

class Notifier final : public Notifications {
 public:
  // `look_at` is called on a sink's thread with a node whose event has ended. Services, clock and
  // log must outlive this.
  Notifier(SinkServices services, Clock& clock, Log& log,
           std::function<void(const std::string& node)> look_at);
  ~Notifier() override;
  Notifier(const Notifier&) = delete;
  Notifier& operator=(const Notifier&) = delete;

  // Sinks that are no longer in the policy. They already have the request to stop; dropping the
  // last reference waits for their threads.
  using Leaving = std::vector<std::shared_ptr<SinkWorker>>;
  // One thread; does not wait for any sink. Replaces the sinks; unchanged ones keep running. On an
  // error nothing has changed. Events that a removed sink had not delivered have to be requested
  // again.
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
  Workers workers_;  // by name
};

}  // namespace gpuward::remediator
