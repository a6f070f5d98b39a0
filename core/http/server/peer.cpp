#include "core/http/server/peer.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>

namespace gpuward::http {
namespace {

constexpr std::size_t kBytesOfNetwork = 8;
constexpr std::size_t kBytesBeforeIpv4 = 12;

}  // namespace

std::string peer_key(std::string_view address) {
  std::string text(address.substr(0, address.find('%')));
  in6_addr v6{};
  if (inet_pton(AF_INET6, text.c_str(), &v6) != 1) return text;
  std::array<char, INET6_ADDRSTRLEN> shown{};
  if (IN6_IS_ADDR_V4MAPPED(&v6)) {
    inet_ntop(AF_INET, v6.s6_addr + kBytesBeforeIpv4, shown.data(), shown.size());
  } else {
    std::fill(v6.s6_addr + kBytesOfNetwork, v6.s6_addr + sizeof v6.s6_addr, std::uint8_t{0});
    inet_ntop(AF_INET6, &v6, shown.data(), shown.size());
  }
  return shown.data();
}

}  // namespace gpuward::http
