#include "core/http/socket_table.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <optional>

#include "core/runtime/text.h"

namespace gpuward::http {
namespace {

struct Endpoint {
  std::string address;
  std::uint16_t port = 0;
};

Endpoint read_endpoint(const sockaddr_storage& storage) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  Endpoint endpoint;
  if (storage.ss_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, &storage, sizeof v4);
    inet_ntop(AF_INET, &v4.sin_addr, text.data(), text.size());
    endpoint.port = ntohs(v4.sin_port);
  } else if (storage.ss_family == AF_INET6) {
    sockaddr_in6 v6{};
    std::memcpy(&v6, &storage, sizeof v6);
    inet_ntop(AF_INET6, &v6.sin6_addr, text.data(), text.size());
    endpoint.port = ntohs(v6.sin6_port);
  }
  endpoint.address = text.data();
  return endpoint;
}

using NameOf = int (*)(int, sockaddr*, socklen_t*);

std::optional<Endpoint> endpoint_of(int descriptor, NameOf name_of) {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  if (name_of(descriptor, reinterpret_cast<sockaddr*>(&storage), &size) != 0) return std::nullopt;
  return read_endpoint(storage);
}

int get_peer(int descriptor, sockaddr* address, socklen_t* size) {
  return getpeername(descriptor, address, size);
}

int get_local(int descriptor, sockaddr* address, socklen_t* size) {
  return getsockname(descriptor, address, size);
}

template <typename Visit>  // bool(int): true ends the walk
void visit_descriptors(const Visit& visit) {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir("/proc/self/fd"), closedir);
  if (!folder) return;
  while (const dirent* entry = readdir(folder.get())) {
    const auto descriptor = parse_integer<int>(entry->d_name);
    if (descriptor && visit(*descriptor)) return;
  }
}

}  // namespace

int find_accepted_socket(std::string_view peer, std::uint16_t peer_port, std::uint16_t local_port) {
  const std::string_view address = peer.substr(0, peer.find('%'));  // without an IPv6 zone
  int found = -1;
  visit_descriptors([&](int descriptor) {
    const auto remote = endpoint_of(descriptor, get_peer);
    if (!remote || remote->port != peer_port || remote->address != address) return false;
    if (local_port_of(descriptor) != local_port) return false;
    found = descriptor;
    return true;
  });
  return found;
}

std::vector<int> find_listening_sockets() {
  std::vector<int> found;
  visit_descriptors([&](int descriptor) {
    int listens = 0;
    socklen_t size = sizeof listens;
    const bool answered =
        getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0 && listens != 0;
    if (answered && local_port_of(descriptor) != 0) found.push_back(descriptor);
    return false;
  });
  std::ranges::sort(found);
  return found;
}

std::uint16_t local_port_of(int descriptor) {
  const auto local = endpoint_of(descriptor, get_local);
  return local ? local->port : std::uint16_t{0};
}

std::uint64_t bytes_received(int descriptor) {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return 0;
  return info.tcpi_bytes_received;
}

bool peer_is_gone(int descriptor) {
  pollfd watched{descriptor, POLLRDHUP, 0};
  if (poll(&watched, 1, 0) <= 0) return false;
  return (watched.revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL)) != 0;
}

}  // namespace gpuward::http
