// A sink is a receiver of events. Each sink has its own file, an entry in all.cpp, and settings in
// policy/notifications_file.cpp. A SinkWorker calls it, repeats failed deliveries, gives up and
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

// Services that sinks share. They must outlive the sinks.
struct SinkServices {
  aws::AwsClient& aws;
};

class Sink {
 public:
  virtual ~Sink() = default;
  // Sends the event. Called on one thread. Takes at most the sink's time-out, and ends soon after
  // `stop`. Returns kInvalid if the receiver will never accept this event; after any other error a
  // later attempt may succeed. Errors show only the host of a URL, and no other secret.
  [[nodiscard]] virtual Status deliver(const NotificationEvent& event,
                                       const std::stop_token& stop) = 0;
};

// Opens a sink. Returns kInvalid if its kind is not in the table, else the error of a file that
// cannot be read.
[[nodiscard]] Result<std::unique_ptr<Sink>> open_sink(const SinkSettings& settings,
                                                      const SinkServices& services);

}  // namespace gpuward::remediator
