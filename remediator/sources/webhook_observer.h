// Reports on the webhook's requests, for page/metrics, which counts them. Keeps the sources free of
// metrics.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace gpuward::remediator {

struct WebhookOutcome {
  int status = 0;
  std::string_view failure;  // constant word for a metric's label; empty for a 200
  std::size_t accepted = 0, duplicate = 0, ignored = 0, rejected = 0;
  std::string problem;          // of the first rejected alert; empty if there is none
  std::uint64_t truncated = 0;  // alerts that were cut off the notification
  std::chrono::nanoseconds took{0};
};

class WebhookObserver {
 public:
  virtual ~WebhookObserver() = default;
  // Any thread, several at once; must be quick.
  virtual void on_notification(const WebhookOutcome& outcome) = 0;
};

}  // namespace gpuward::remediator
