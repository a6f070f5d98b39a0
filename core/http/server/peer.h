// Limits of a server count by peer: an IPv4 address, or a network of IPv6, because one machine may
// choose any address of its /64. Pure. Used by the connections and the hash queue of a server.
#pragma once

#include <string>
#include <string_view>

namespace gpuward::http {

// "192.0.2.7", also for "::ffff:192.0.2.7"; "2001:db8:1:2::" for "2001:db8:1:2:3::4". Any other
// text is returned as it is.
[[nodiscard]] std::string peer_key(std::string_view address);

}  // namespace gpuward::http
