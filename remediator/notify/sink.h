// A sink: a receiver of events. Each sink has one file, is listed in all.cpp, and has its settings
// in policy/notifications_file.cpp. A SinkWorker drives it: it repeats, gives up and counts.
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
  // receiver will never accept this event. Any other error: it may accept it later. Errors show
  // only the host of a URL, and no other secret.
  [[nodiscard]] virtual Status deliver(const NotificationEvent& event,
                                       const std::stop_token& stop) = 0;
};

// kInvalid if its kind is not in the table, else the error of a file that cannot be read.
[[nodiscard]] Result<std::unique_ptr<Sink>> open_sink(const SinkSettings& settings,
                                                      const SinkServices& services);

}  // namespace gpuward::remediator
