#include "exporter/nccl_pair/link.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <system_error>
#include <utility>

#include "exporter/nccl_pair/message.h"

namespace gpuward::exporter::nccl_pair {
namespace {

template <typename Address>
void put_address(const Address& address, Endpoint& endpoint) {
  static_assert(sizeof(Address) <= sizeof(endpoint.address));
  std::memcpy(&endpoint.address, &address, sizeof(Address));
  endpoint.length = sizeof(Address);
}

constexpr int kBacklog = 8;

std::string words_of(int error) { return std::generic_category().message(error); }

const sockaddr* plain(const Endpoint& endpoint) {
  return reinterpret_cast<const sockaddr*>(&endpoint.address);
}

// Whether the socket is ready for `events`, or has failed, which its next use shows, before the
// deadline.
bool wait_until(const Descriptor& socket, short events, const Clock& clock,
                Link::Deadline deadline) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - clock.steady());
    if (left.count() <= 0) return false;
    pollfd watched{socket.get(), events, 0};
    // In slices, because poll() takes an int.
    const auto slice = std::min<std::int64_t>(left.count(), 60'000);
    const int ready = ::poll(&watched, 1, static_cast<int>(slice));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return true;
  }
}

Descriptor make_socket(const Endpoint& endpoint) {
  return Descriptor(
      ::socket(endpoint.address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

void set_option(const Descriptor& socket, int level, int option) {
  const int on = 1;
  static_cast<void>(::setsockopt(socket.get(), level, option, &on, sizeof on));
}

// Sends each line at once: lines are few and small.
Link link_of(Descriptor socket, const Clock& clock) {
  set_option(socket, IPPROTO_TCP, TCP_NODELAY);
  return {std::move(socket), clock};
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
    return fail(ErrorKind::kInvalid, address + " is not an IPv4 or IPv6 address");
  }
  return endpoint;
}

Result<Link> Link::connect(const Endpoint& endpoint, const Clock& clock, Deadline deadline) {
  Descriptor socket = make_socket(endpoint);
  if (!socket.is_open()) return fail(ErrorKind::kUnavailable, "socket: " + words_of(errno));
  if (::connect(socket.get(), plain(endpoint), endpoint.length) != 0 && errno != EINPROGRESS)
    return fail(ErrorKind::kUnavailable, endpoint.text + ": " + words_of(errno));
  if (!wait_until(socket, POLLOUT, clock, deadline))
    return fail(ErrorKind::kTimeout, endpoint.text + ": did not answer");
  int error = 0;
  socklen_t length = sizeof error;
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &length) != 0) error = errno;
  if (error != 0) return fail(ErrorKind::kUnavailable, endpoint.text + ": " + words_of(error));
  return link_of(std::move(socket), clock);
}

Status Link::send(std::string_view line, Deadline deadline) const {
  while (!line.empty()) {
    const ssize_t sent = ::send(socket_.get(), line.data(), line.size(), MSG_NOSIGNAL);
    if (sent > 0) {
      line.remove_prefix(static_cast<std::size_t>(sent));
    } else if (sent < 0 && errno == EAGAIN) {
      if (!wait_until(socket_, POLLOUT, *clock_, deadline))
        return fail(ErrorKind::kTimeout, "the peer does not accept data");
    } else if (sent < 0 && errno != EINTR) {
      return fail(ErrorKind::kUnavailable, "the peer closed the connection: " + words_of(errno));
    }
  }
  return {};
}

Result<std::string> Link::receive(Deadline deadline) {
  for (;;) {
    if (const auto end = received_.find('\n'); end != std::string::npos) {
      std::string line = received_.substr(0, end);
      received_.erase(0, end + 1);
      return line;
    }
    if (received_.size() >= kMostMessageBytes)
      return fail(ErrorKind::kTooLarge, "the peer sent a line that is too long");
    if (!wait_until(socket_, POLLIN, *clock_, deadline))
      return fail(ErrorKind::kTimeout, "the peer sent nothing in time");
    std::array<char, kMostMessageBytes> buffer{};
    const ssize_t got = ::recv(socket_.get(), buffer.data(), buffer.size() - received_.size(), 0);
    if (got > 0) {
      received_.append(buffer.data(), static_cast<std::size_t>(got));
    } else if (got == 0) {
      return fail(ErrorKind::kUnavailable, "the peer closed the connection");
    } else if (errno != EINTR && errno != EAGAIN) {
      return fail(ErrorKind::kUnavailable, "the peer closed the connection: " + words_of(errno));
    }
  }
}

void Link::hang_up() const { static_cast<void>(::shutdown(socket_.get(), SHUT_RDWR)); }

Result<Listener> Listener::open(const Endpoint& endpoint, const Clock& clock) {
  Descriptor socket = make_socket(endpoint);
  if (!socket.is_open()) return fail(ErrorKind::kUnavailable, "socket: " + words_of(errno));
  set_option(socket, SOL_SOCKET, SO_REUSEADDR);
  if (::bind(socket.get(), plain(endpoint), endpoint.length) != 0 ||
      ::listen(socket.get(), kBacklog) != 0) {
    return fail(ErrorKind::kUnavailable,
                "cannot listen on " + endpoint.text + ": " + words_of(errno));
  }
  return Listener(std::move(socket), clock);
}

Result<Link> Listener::accept(Link::Deadline deadline) const {
  for (;;) {
    if (!wait_until(socket_, POLLIN, *clock_, deadline))
      return fail(ErrorKind::kTimeout, "no peer has connected");
    Descriptor socket(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (socket.is_open()) return link_of(std::move(socket), *clock_);
    // Ignores a client that disconnected before it was accepted.
    if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
      return fail(ErrorKind::kUnavailable, "accept: " + words_of(errno));
  }
}

}  // namespace gpuward::exporter::nccl_pair
