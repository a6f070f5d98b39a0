// The addresses a server listens on, as people write them: ":10980" (every address, IPv4 and IPv6),
// "127.0.0.1:0", "[::1]:10980". Pure but for asking whether the machine has IPv6. Used by the
// server.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/model/result.h"

namespace gpuward::http {

struct ListenAddress {
  std::string host;  // "" every address, else an IP literal without brackets
  std::uint16_t port = 0;
  bool is_ipv6 = false;
};

// kInvalid says what is allowed. Names are refused: what a name means can change after the start.
[[nodiscard]] Result<ListenAddress> parse_listen_address(std::string_view text);

[[nodiscard]] bool machine_has_ipv6();

// How many connections wait in the kernel until they are accepted. A client that finds no place
// there tries again after a second, which is too late for a probe.
inline constexpr int kListenBacklog = 4096;

}  // namespace gpuward::http
