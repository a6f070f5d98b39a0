// Tells the sinks of the policy what the reconciler wants notified, without ever holding it up.
// What must not get lost is in the Remediation until everybody has it (policy/notice). Made by the
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

// The seam to execution/; tests collect what is told.
class Notifications {
 public:
  virtual ~Notifications() = default;
  // Any thread; never blocks. Hands the event to those sinks that do not have it yet; true once all
  // of them have taken it or have given up. A sink that is not in the policy any more wants
  // nothing. Asked again until it is true.
  [[nodiscard]] virtual bool are_notified(const NotificationEvent& event,
                                          const std::vector<std::string>& sinks) = 0;
};

class Notifier final : public Notifications {
 public:
  // `look_at` is called on a sink's thread with a node that has an event which has ended. Services,
  // clock and log must outlive this.
  Notifier(SinkServices services, Clock& clock, Log& log,
           std::function<void(const std::string& node)> look_at);
  ~Notifier() override;
  Notifier(const Notifier&) = delete;
  Notifier& operator=(const Notifier&) = delete;

  // Sinks that are no longer in the policy. They were asked to stop; dropping the last reference
  // waits until they have.
  using Leaving = std::vector<std::shared_ptr<SinkWorker>>;
  // One thread; waits for no sink. The sinks as they are from now on; those that have not changed
  // go on. An error: nothing has changed. What a sink that goes was still to tell has to be asked
  // for again.
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
