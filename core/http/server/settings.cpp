#include "core/http/server/settings.h"

#include "core/http/server/listen_address.h"

namespace gpuward::http {
namespace {

// civetweb's buffer for a header. Room beyond our own limit lets us answer 431 to most of what is
// too long.
std::size_t header_buffer(const Limits& limits) { return limits.max_header_bytes + 4096; }

std::string civetweb_port(const ListenAddress& address, bool is_tls) {
  const std::string port = std::to_string(address.port) + (is_tls ? "s" : "");
  if (address.is_ipv6) return "[" + address.host + "]:" + port;
  if (!address.host.empty()) return address.host + ":" + port;
  return machine_has_ipv6() ? "+" + port : "0.0.0.0:" + port;
}

}  // namespace

Result<std::vector<std::string>> civetweb_settings(const ServerOptions& options) {
  std::string ports;
  for (const std::string& text : options.listen_addresses) {
    const auto address = parse_listen_address(text);
    if (!address) return std::unexpected(address.error());
    if (!ports.empty()) ports += ',';
    ports += civetweb_port(*address, !options.tls.certificate_file.empty());
  }
  const Limits& limits = options.limits;
  return std::vector<std::string>{
      "listening_ports",
      ports,
      "num_threads",
      std::to_string(limits.max_connections),
      "connection_queue",
      "16",
      "max_request_size",
      std::to_string(header_buffer(limits)),
      "request_timeout_ms",
      std::to_string(limits.read_timeout.count()),
      "enable_keep_alive",
      "yes",
      "keep_alive_timeout_ms",
      std::to_string(limits.keep_alive_timeout.count()),
      "tcp_nodelay",
      "1",
      "decode_url",
      "no",
      "access_control_allow_origin",
      "",
      "access_control_allow_methods",
      "",
      "access_control_allow_headers",
      "",
      "enable_directory_listing",
      "no",
      "enable_auth_domain_check",
      "no",
      "cgi_pattern",
      "",
      "ssi_pattern",
      "",
      "index_files",
      "",
  };
}

}  // namespace gpuward::http
