#include "exporter/nccl_pair/endpoint.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <cstdint>
#include <cstring>

namespace gpuward::exporter::nccl_pair {
namespace {

template <typename Address>
void put_address(const Address& address, Endpoint& endpoint) {
  static_assert(sizeof(Address) <= sizeof(endpoint.address));
  std::memcpy(&endpoint.address, &address, sizeof(Address));
  endpoint.length = sizeof(Address);
}

}  // namespace

Result<Endpoint> parse_endpoint(const std::string& address, int port) {
  Endpoint endpoint;
  sockaddr_in four{};
  sockaddr_in6 six{};
  if (::inet_pton(AF_INET, address.c_str(), &four.sin_addr) == 1) {
    four.sin_family = AF_INET;
    four.sin_port = htons(static_cast<std::uint16_t>(port));
    put_address(four, endpoint);
    endpoint.text = address + ":" + std::to_string(port);
  } else if (::inet_pton(AF_INET6, address.c_str(), &six.sin6_addr) == 1) {
    six.sin6_family = AF_INET6;
    six.sin6_port = htons(static_cast<std::uint16_t>(port));
    put_address(six, endpoint);
    endpoint.text = "[" + address + "]:" + std::to_string(port);
  } else {
    return fail(ErrorKind::kInvalid, address + " is no IPv4 or IPv6 address");
  }
  return endpoint;
}

}  // namespace gpuward::exporter::nccl_pair
