// What a sink is: somebody who is notified of events. One file a sink, all in all.cpp, its settings
// in policy/notifications_file.cpp; each is worked by a SinkWorker, which repeats, gives up and
// counts.
#pragma once

#include <memory>
#include <stop_token>

#include "core/model/result.h"
#include "remediator/notify/event.h"
#include "remediator/policy/notifications.h"

namespace gpuward::aws {
class AwsClient;
}

namespace gpuward::remediator {

// What sinks share; must outlive them.
struct SinkServices {
  aws::AwsClient& aws;
};

class Sink {
 public:
  virtual ~Sink() = default;
  // One thread. Takes at most the sink's time-out, and ends soon after `stop`. kInvalid: the
  // receiver will never take this event. Any other error: it may take it later. No error holds
  // anything of an URL but its host, nor any other secret.
  [[nodiscard]] virtual Status deliver(const NotificationEvent& event,
                                       const std::stop_token& stop) = 0;
};

// kInvalid where its kind is not in the table, else the error of a file that cannot be read.
[[nodiscard]] Result<std::unique_ptr<Sink>> open_sink(const SinkSettings& settings,
                                                      const SinkServices& services);

}  // namespace gpuward::remediator
