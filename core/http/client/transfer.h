// One transfer of the client: a curl handle with the loop that drives it. A handle keeps its
// connections for the next transfer. Used by client.cpp, which keeps the idle ones.
#pragma once

#include <memory>

#include "core/http/client/answer.h"
#include "core/http/client/client.h"

namespace gpuward::http {

class Transfer {
 public:
  explicit Transfer(const ClientTls& tls);
  ~Transfer();
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  // One at a time. Collects the body if `stream` is null.
  [[nodiscard]] Result<ClientResponse> run(const ClientRequest& request,
                                           const StreamOptions* stream);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gpuward::http
