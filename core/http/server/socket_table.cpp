#include "core/http/server/socket_table.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "core/runtime/text.h"

namespace gpuward::http {
namespace {

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

template <typename Visit>  // void(int)
void visit_descriptors(const Visit& visit) {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir("/proc/self/fd"), closedir);
  if (!folder) return;
  while (const dirent* entry = readdir(folder.get())) {
    if (const auto descriptor = parse_integer<int>(entry->d_name)) visit(*descriptor);
  }
}

bool listens(int descriptor) {
  int answer = 0;
  socklen_t size = sizeof answer;
  return getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &answer, &size) == 0 && answer != 0;
}

bool accepts_for(const ListeningSocket& listener, const Endpoint& local) {
  const std::string& address = listener.local.address;
  const bool is_everywhere = address == "0.0.0.0" || address == "::";
  return listener.local.port == local.port && (is_everywhere || address == local.address);
}

bool is_accepted(const std::vector<ListeningSocket>& listeners, int descriptor) {
  const auto local = endpoint_of(descriptor, get_local);
  return local && std::ranges::any_of(listeners, [&](const auto& listener) {
           return accepts_for(listener, *local);
         });
}

constexpr int kSmallDescriptors = 512;

// Descriptors are small numbers in general. One call says which of them are open.
template <typename Visit>  // void(int)
void visit_small_descriptors(const Visit& visit) {
  std::array<pollfd, kSmallDescriptors> small{};
  for (int descriptor = 0; descriptor < kSmallDescriptors; ++descriptor)
    small[static_cast<std::size_t>(descriptor)].fd = descriptor;
  const bool is_known = poll(small.data(), small.size(), 0) >= 0;
  for (const pollfd& one : small) {
    if (!is_known || (one.revents & POLLNVAL) == 0) visit(one.fd);
  }
}

}  // namespace

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

std::vector<ListeningSocket> find_listening_sockets() {
  std::vector<ListeningSocket> found;
  visit_descriptors([&](int descriptor) {
    if (!listens(descriptor)) return;
    auto local = endpoint_of(descriptor, get_local);
    if (local && local->port != 0) found.push_back({descriptor, std::move(*local)});
  });
  return found;
}

std::vector<AcceptedSocket> find_accepted_sockets(const std::vector<ListeningSocket>& listeners) {
  std::vector<AcceptedSocket> found;
  visit_descriptors([&](int descriptor) {
    auto peer = endpoint_of(descriptor, get_peer);
    if (!peer || peer->port == 0) return;
    if (is_accepted(listeners, descriptor)) found.push_back({descriptor, std::move(*peer)});
  });
  return found;
}

std::optional<int> find_accepted_socket(const std::vector<ListeningSocket>& listeners,
                                        const Endpoint& peer) {
  std::vector<int> found;
  const auto visit = [&](int descriptor) {
    if (endpoint_of(descriptor, get_peer) == peer && is_accepted(listeners, descriptor))
      found.push_back(descriptor);
  };
  visit_small_descriptors(visit);
  if (found.empty()) visit_descriptors(visit);
  if (found.empty()) return -1;
  // The same local end is the same socket: another thread may hold a copy for a moment.
  const auto local = endpoint_of(found.front(), get_local);
  const bool is_one = std::ranges::all_of(
      found, [&](int descriptor) { return endpoint_of(descriptor, get_local) == local; });
  return is_one ? std::optional(found.front()) : std::nullopt;
}

void shut_accepted_socket(const AcceptedSocket& socket, int how) {
  // Among the large numbers nothing takes the copy for the socket.
  int copy = fcntl(socket.descriptor, F_DUPFD_CLOEXEC, kSmallDescriptors);
  if (copy < 0) copy = fcntl(socket.descriptor, F_DUPFD_CLOEXEC, 0);
  if (copy < 0) return;
  if (endpoint_of(copy, get_peer) == socket.peer) shutdown(copy, how);
  close(copy);
}

std::uint64_t bytes_received(int descriptor) {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return 0;
  return info.tcpi_bytes_received;
}

bool has_unread_bytes(int descriptor) {
  int count = 0;
  return ioctl(descriptor, FIONREAD, &count) == 0 && count > 0;
}

bool peer_is_gone(int descriptor) {
  pollfd watched{descriptor, POLLRDHUP, 0};
  if (poll(&watched, 1, 0) <= 0) return false;
  return (watched.revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL)) != 0;
}

}  // namespace gpuward::http
