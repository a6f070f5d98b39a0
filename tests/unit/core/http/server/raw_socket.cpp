#include "tests/unit/core/http/server/raw_socket.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <utility>

namespace gpuward::http {
namespace {

using support::Deadline;

struct Endpoint {
  explicit Endpoint(const std::string& address, int port) {
    if (inet_pton(AF_INET6, address.c_str(), &v6.sin6_addr) == 1) {
      v6.sin6_family = AF_INET6;
      v6.sin6_port = htons(static_cast<std::uint16_t>(port));
      return;
    }
    v4.sin_family = AF_INET;
    v4.sin_port = htons(static_cast<std::uint16_t>(port));
    inet_pton(AF_INET, address.c_str(), &v4.sin_addr);
  }
  [[nodiscard]] bool is_v6() const { return v6.sin6_family == AF_INET6; }
  [[nodiscard]] const sockaddr* get() const {
    return is_v6() ? reinterpret_cast<const sockaddr*>(&v6)
                   : reinterpret_cast<const sockaddr*>(&v4);
  }
  [[nodiscard]] socklen_t size() const { return is_v6() ? sizeof v6 : sizeof v4; }

  sockaddr_in v4{};
  sockaddr_in6 v6{};
};

int connect_from(const std::string& address, int port, const std::string& own, int own_port) {
  const Endpoint source(own, own_port);
  const Endpoint target(address, port);
  const int descriptor = socket(target.get()->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  // The kernel chooses the port after it knows the target, so that it is free for this pair.
  if (own_port == 0) setsockopt(descriptor, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
  bind(descriptor, source.get(), source.size());
  const int done = connect(descriptor, target.get(), target.size());
  return done == 0 ? descriptor : -1;
}

std::size_t length_in(std::string_view head) {
  const auto found = head.find("Content-Length: ");
  if (found == std::string_view::npos) return 0;
  return std::strtoul(head.data() + found + 16, nullptr, 10);
}

}  // namespace

RawSocket::RawSocket(int port, const std::string& address, const std::string& own, int own_port)
    : descriptor_(connect_from(address, port, own, own_port)) {}

int RawSocket::own_port() const {
  sockaddr_in own{};
  socklen_t size = sizeof own;
  getsockname(descriptor_, reinterpret_cast<sockaddr*>(&own), &size);
  return ntohs(own.sin_port);
}

RawSocket::~RawSocket() { close(); }

void RawSocket::close() {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

void RawSocket::finish_sending() { shutdown(descriptor_, SHUT_WR); }

void RawSocket::set_small_receive_buffer() {
  const int size = 4096;
  setsockopt(descriptor_, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
}

bool RawSocket::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool RawSocket::receive_some(Milliseconds limit) {
  pollfd watched{descriptor_, POLLIN, 0};
  if (limit.count() <= 0 || poll(&watched, 1, static_cast<int>(limit.count())) <= 0) return false;
  std::array<char, 65536> piece;
  const ssize_t got = recv(descriptor_, piece.data(), piece.size(), 0);
  is_ended_ = got <= 0;
  if (got > 0) received_.append(piece.data(), static_cast<std::size_t>(got));
  return got > 0;
}

bool RawSocket::read_until(std::string_view text, Milliseconds limit) {
  const Deadline deadline(limit);
  while (received_.find(text) == std::string::npos) {
    if (!receive_before(deadline)) return false;
  }
  return true;
}

bool RawSocket::receive_before(const Deadline& deadline) {
  const bool has_received = receive_some(deadline.left());
  if (!has_received && !is_ended_) deadline.fail();
  return has_received;
}

RawResponse RawSocket::read_response(Milliseconds limit, bool has_body) {
  RawResponse response;
  const Deadline deadline(limit);
  if (!read_until("\r\n\r\n", limit)) return response;
  const auto head_size = received_.find("\r\n\r\n") + 4;
  response.head = received_.substr(0, head_size);
  received_.erase(0, head_size);
  const std::size_t size = has_body ? length_in(response.head) : 0;
  while (received_.size() < size && receive_before(deadline)) {
  }
  response.body = received_.substr(0, size);
  received_.erase(0, size);
  response.status = std::atoi(response.head.c_str() + 9);
  return response;
}

std::string RawSocket::read_all(Milliseconds limit) {
  const Deadline deadline(limit);
  while (receive_before(deadline)) {
  }
  return std::exchange(received_, {});
}

bool RawSocket::is_closed_within(Milliseconds limit) {
  const Deadline deadline(limit);
  while (receive_before(deadline)) {
  }
  return is_ended_;
}

RawResponse raw_exchange(int port, std::string_view request) {
  RawSocket socket(port);
  socket.send(request);
  return socket.read_response();
}

}  // namespace gpuward::http
