#include "core/http/server/listen_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/runtime/text.h"

namespace gpuward::http {
namespace {

std::unexpected<Error> refuse(std::string_view text) {
  return fail(ErrorKind::kInvalid,
              "listen address \"" + to_valid_utf8(text, 100) +
                  "\": write \":PORT\", \"ADDRESS:PORT\" or \"[IPV6 ADDRESS]:PORT\"");
}

bool is_literal(int family, const std::string& host) {
  in6_addr ignored{};
  return inet_pton(family, host.c_str(), &ignored) == 1;
}

}  // namespace

Result<ListenAddress> parse_listen_address(std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) return refuse(text);
  const auto port = parse_integer<std::uint16_t>(text.substr(colon + 1));
  if (!port) return refuse(text);
  std::string_view host = text.substr(0, colon);
  ListenAddress address;
  address.port = *port;
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
    address.is_ipv6 = true;
  } else if (host == "localhost") {
    host = "127.0.0.1";
  }
  address.host = host;
  const int family = address.is_ipv6 ? AF_INET6 : AF_INET;
  const bool everywhere = host.empty() && !address.is_ipv6;
  if (!everywhere && !is_literal(family, address.host)) return refuse(text);
  return address;
}

bool machine_has_ipv6() {
  const int descriptor = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return false;
  close(descriptor);
  return true;
}

}  // namespace gpuward::http
