// Hosts as URLs and Host fields name them. Pure; used by the server, which serves its pages only
// under its own names, and by the rule about credentials over plain HTTP (plain_http.h).
#pragma once

#include <string>
#include <string_view>

namespace gpuward::http {

// Returns the host of "HOST[:PORT]" in lower case, without brackets and the final dot of the root.
// Empty for anything else, such as a text with a user name.
[[nodiscard]] std::string host_of(std::string_view authority);

// Whether it is an IPv4 address in four parts or an IPv6 address, as host_of() returns them.
[[nodiscard]] bool is_address(const std::string& host);

// localhost, 127.0.0.0/8 and ::1: data sent there never leaves the machine.
[[nodiscard]] bool is_loopback(const std::string& host);

}  // namespace gpuward::http
