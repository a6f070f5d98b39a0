// The parts of a request's URL, so that errors can name the host without the path, the query or a
// password. Used by the client.
#pragma once

#include <string>
#include <string_view>

#include "core/model/result.h"

namespace gpuward::http {

struct ClientTarget {
  std::string host;  // as in the URL, IPv6 in brackets
  std::string port;  // never empty
  bool is_tls = false;
  std::string host_field;  // the Host header: host, and a port that is not the scheme's own
};

// kInvalid for any scheme but http and https.
[[nodiscard]] Result<ClientTarget> parse_target(const std::string& url);
// Returns the same URL with another host.
[[nodiscard]] Result<std::string> with_host(const std::string& url, const std::string& host);

}  // namespace gpuward::http
