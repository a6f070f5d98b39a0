// The rest of a replica's process, before each of its requests: either its lease thread gets its
// turn, or the whole process stalls. Above the fence, as in the product.
#pragma once

#include <functional>
#include <utility>

#include "core/http/client/client.h"

namespace gpuward::remediator::simulation {

class Pulse final : public http::Client {
 public:
  Pulse(http::Client& behind, std::function<void()> before)
      : behind_(behind), before_(std::move(before)) {}
  [[nodiscard]] Result<http::ClientResponse> send(const http::ClientRequest& request) override {
    before_();
    return behind_.send(request);
  }
  [[nodiscard]] Result<http::ClientResponse> stream(
      const http::ClientRequest& request, std::chrono::milliseconds idle, std::stop_token stop,
      const std::function<bool(std::string_view)>& on_bytes) override {
    return behind_.stream(request, idle, std::move(stop), on_bytes);
  }

 private:
  http::Client& behind_;
  std::function<void()> before_;
};

}  // namespace gpuward::remediator::simulation
