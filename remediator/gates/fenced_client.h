// The last gate before the network: an http::Client that sends nothing but GETs unless it may write
// at that moment. Everything that changes the cluster goes through one, so that no code path of a
// deposed leader can write, whatever it does. The intake, which works on every replica, does not.
#pragma once

#include <chrono>
#include <functional>
#include <stop_token>
#include <string_view>

#include "core/http/client/client.h"
#include "core/model/result.h"

namespace gpuward::remediator {

class FencedClient final : public http::Client {
 public:
  // Asked right before each request that is not a GET. Any thread; must not block.
  using MayWrite = std::function<bool()>;

  // `behind` must outlive it, and so must what `may_write` holds.
  FencedClient(http::Client& behind, MayWrite may_write);

  // Any thread. kCancelled, which nothing repeats, where it may not write: nothing was sent.
  [[nodiscard]] Result<http::ClientResponse> send(const http::ClientRequest& request) override;
  [[nodiscard]] Result<http::ClientResponse> stream(
      const http::ClientRequest& request, std::chrono::milliseconds idle, std::stop_token stop,
      const std::function<bool(std::string_view)>& on_bytes) override;

 private:
  [[nodiscard]] Status permit(const http::ClientRequest& request) const;

  http::Client& behind_;
  MayWrite may_write_;
};

}  // namespace gpuward::remediator
