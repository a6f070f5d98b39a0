// One unary gRPC call over a unix socket, without TLS: HTTP/2 by core/http, one message each way
// (github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md). Used by the kubelet client.
#pragma once

#include <chrono>
#include <cstddef>
#include <stop_token>
#include <string>

#include "core/http/client/client.h"
#include "core/model/result.h"

namespace gpuward::exporter {

struct GrpcCall {
  std::string socket;   // "/var/lib/kubelet/pod-resources/kubelet.sock"
  std::string method;   // "/v1.PodResourcesLister/List"
  std::string message;  // encoded
  std::chrono::milliseconds timeout{10'000};
  std::size_t max_response_bytes = 16U << 20U;
};

// Returns the encoded response. Blocks for at most `timeout`; a stop ends it within 100 ms as
// kCancelled. A grpc-status other than 0 is an error of the matching kind; a response without one
// is broken, even if its bytes look good.
[[nodiscard]] Result<std::string> call_grpc(http::Client& client, const GrpcCall& call,
                                            const std::stop_token& stop);

}  // namespace gpuward::exporter
