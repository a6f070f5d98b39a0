// The last gate before the network: an http::Client that sends only GETs unless `may_write` permits
// a write at that moment. All requests that change the cluster pass through one, so a deposed
// leader cannot write on any code path. The intake does not use it: it runs on every replica.
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
  // Returns whether this process may write. Called on any thread right before each request that is
  // not a GET; must not block.
  using MayWrite = std::function<bool()>;

  // `behind`, and all objects that `may_write` refers to, must outlive this object.
  FencedClient(http::Client& behind, MayWrite may_write);

  // Sends the request. Returns kCancelled if the process may not write; nothing was sent, and no
  // caller retries. Thread-safe.
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
