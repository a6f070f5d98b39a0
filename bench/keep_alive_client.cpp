#include "bench/keep_alive_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <iostream>

namespace gpuward::bench {
namespace {

constexpr std::size_t kMostBytes = 1U << 20U;

[[noreturn]] void give_up(int port, const std::string& why) {
  std::cerr << "port " << port << ": " << why << "\n";
  std::exit(1);
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  });
  return text;
}

}  // namespace

KeepAliveClient::KeepAliveClient(int port, const std::string& path,
                                 const std::string& accept_encoding)
    : port_(port),
      request_("GET " + path +
               " HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept-Encoding: " + accept_encoding + "\r\n\r\n") {
  connect();
}

KeepAliveClient::~KeepAliveClient() { ::close(socket_); }

void KeepAliveClient::connect() {
  if (socket_ >= 0) ::close(socket_);
  socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port_));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    give_up(port_, "cannot connect");
  }
  const int on = 1;
  ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  const timeval limit{.tv_sec = 5, .tv_usec = 0};
  ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
}

std::optional<std::chrono::nanoseconds> KeepAliveClient::get() {
  // Not measured: a server is not slow because it limits the requests of a connection, or its idle
  // time.
  if (is_last_) connect();
  auto start = std::chrono::steady_clock::now();
  if (!exchange()) {
    if (has_timed_out_) return std::nullopt;
    connect();
    start = std::chrono::steady_clock::now();
    if (!exchange()) return std::nullopt;
  }
  return std::chrono::steady_clock::now() - start;
}

bool KeepAliveClient::exchange() {
  const auto size = static_cast<ssize_t>(request_.size());
  if (::send(socket_, request_.data(), request_.size(), MSG_NOSIGNAL) != size) return false;
  answer_.resize(kMostBytes);
  std::size_t got = 0;
  header_bytes_ = 0;
  do {
    const ssize_t more = ::recv(socket_, answer_.data() + got, answer_.size() - got, 0);
    has_timed_out_ = more < 0 && errno == EAGAIN;
    if (has_timed_out_ || (more <= 0 && got == 0)) return false;
    if (more <= 0) give_up(port_, "the connection ended in the middle of an answer");
    got += static_cast<std::size_t>(more);
    if (header_bytes_ == 0) read_header({answer_.data(), got});
  } while (!is_whole({answer_.data(), got}));
  if (is_chunked_) body_bytes_ = got - header_bytes_;
  return true;
}

void KeepAliveClient::read_header(std::string_view answer) {
  const auto end = answer.find("\r\n\r\n");
  if (end == std::string_view::npos) return;
  const std::string header = lower(std::string(answer.substr(0, end)));
  const auto length = header.find("\r\ncontent-length:");
  is_chunked_ = header.find("\r\ntransfer-encoding: chunked") != std::string::npos;
  if (!header.starts_with("http/1.1 200") || (length == std::string::npos && !is_chunked_)) {
    give_up(port_, "not a 200 with a length: " + header);
  }
  header_bytes_ = end + 4;
  body_bytes_ = is_chunked_ ? 0 : std::strtoul(header.c_str() + length + 17, nullptr, 10);
  is_last_ = header.find("\r\nconnection: close") != std::string::npos;
}

bool KeepAliveClient::is_whole(std::string_view answer) const {
  if (header_bytes_ == 0) return false;
  return is_chunked_ ? answer.ends_with("\r\n0\r\n\r\n")
                     : answer.size() >= header_bytes_ + body_bytes_;
}

std::string KeepAliveClient::body() const { return answer_.substr(header_bytes_, body_bytes_); }

}  // namespace gpuward::bench
