// Where rank 0 of a pair listens: an address and a port, checked once. Names are refused: both
// sides must mean the same machine. Used by the flags (to refuse) and by Link.
#pragma once

#include <sys/socket.h>

#include <string>

#include "core/model/result.h"

namespace gpuward::exporter::nccl_pair {

struct Endpoint {
  sockaddr_storage address{};
  socklen_t length = 0;
  std::string text;  // "10.0.0.7:29400", "[fd00::7]:29400"
};

// kInvalid for what is no IPv4 or IPv6 address; `port` is one from 1 to 65535.
[[nodiscard]] Result<Endpoint> parse_endpoint(const std::string& address, int port);

}  // namespace gpuward::exporter::nccl_pair
