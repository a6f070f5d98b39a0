#include "core/http/syntax/host.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "core/runtime/text.h"

namespace gpuward::http {
namespace {

bool is_port(std::string_view text) { return text.empty() || parse_integer<std::uint16_t>(text); }

bool is_name(std::string_view text) {
  return std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
  });
}

bool is_of(int family, const std::string& host) {
  std::array<unsigned char, sizeof(in6_addr)> address{};
  return inet_pton(family, host.c_str(), address.data()) == 1;
}

}  // namespace

std::string host_of(std::string_view authority) {
  const bool is_ipv6 = authority.starts_with('[');
  const auto end = is_ipv6 ? authority.find(']') : authority.find(':');
  std::string host = to_lower(authority.substr(0, end));
  std::string_view rest = end == std::string_view::npos ? "" : authority.substr(end);
  if (is_ipv6) {
    if (rest.empty()) return {};
    host.erase(0, 1);
    rest.remove_prefix(1);
  } else if (host.ends_with('.')) {
    host.pop_back();
  }
  const bool has_good_port = rest.empty() || (rest.starts_with(':') && is_port(rest.substr(1)));
  if (!has_good_port) return {};
  return (is_ipv6 ? is_of(AF_INET6, host) : is_name(host)) ? host : std::string();
}

bool is_address(const std::string& host) { return is_of(AF_INET, host) || is_of(AF_INET6, host); }

bool is_loopback(const std::string& host) {
  if (host == "localhost") return true;
  in6_addr v6{};
  if (inet_pton(AF_INET6, host.c_str(), &v6) == 1) return IN6_IS_ADDR_LOOPBACK(&v6) != 0;
  return host.starts_with("127.") && is_of(AF_INET, host);
}

}  // namespace gpuward::http
