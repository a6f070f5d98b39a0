// An http::Client that calls a FakeKube directly, without a socket or a thread. For simulations and
// unit tests. Any thread.
#pragma once

#include "core/http/client/client.h"
#include "tests/fakes/fake_kube.h"

namespace gpuward::fakes {

class InProcessClient final : public http::Client {
 public:
  // `kube` must outlive it.
  explicit InProcessClient(FakeKube& kube) : kube_(kube) {}

  // Ignores the URL's host. A dropped connection is kUnavailable.
  [[nodiscard]] Result<http::ClientResponse> send(const http::ClientRequest& request) override;
  // `idle` is not enforced: nothing between the client and the fake can be silent.
  [[nodiscard]] Result<http::ClientResponse> stream(
      const http::ClientRequest& request, std::chrono::milliseconds idle, std::stop_token stop,
      const std::function<bool(std::string_view)>& on_bytes) override;

 private:
  FakeKube& kube_;
};

}  // namespace gpuward::fakes
