// Reports the webhook's requests to tell/page/metrics, which counts them. The interface keeps the
// sources free of metrics.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace gpuward::remediator {

struct WebhookOutcome {
  int status = 0;
  std::string_view failure;  // Constant word for a metric's label; empty for a 200.
  std::size_t accepted = 0, duplicate = 0, ignored = 0, rejected = 0;
  std::string problem;          // Fault of the first rejected alert; empty if there is none.
  std::uint64_t truncated = 0;  // Number of alerts that were cut off the notification.
  std::chrono::nanoseconds took{0};
};

class WebhookObserver {
 public:
  virtual ~WebhookObserver() = default;
  // Called on any thread, several at once; must be quick.
  virtual void on_notification(const WebhookOutcome& outcome) = 0;
};

}  // namespace gpuward::remediator
