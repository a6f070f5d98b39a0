#include "tests/unit/core/http/client/raw_server.h"

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

bool is_readable(int descriptor, const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    pollfd watched{descriptor, POLLIN, 0};
    if (poll(&watched, 1, 10) > 0) return true;
  }
  return false;
}

bool is_whole(const std::string& request) {
  const auto end = request.find("\r\n\r\n");
  if (end == std::string::npos) return false;
  const auto length = request.find("Content-Length: ");
  const std::size_t size =
      length == std::string::npos ? 0 : std::strtoul(request.c_str() + length + 16, nullptr, 10);
  return request.size() >= end + 4 + size;
}

}  // namespace

RawServer::RawServer(std::vector<std::string> answers, Ending ending)
    : answers_(std::move(answers)), ending_(ending) {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  bind(listener_, reinterpret_cast<sockaddr*>(&address), size);
  listen(listener_, 8);
  getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
  port_ = ntohs(address.sin_port);
  thread_ = std::jthread([this](const std::stop_token& stop) { serve(stop); });
}

RawServer::~RawServer() {
  thread_.request_stop();
  thread_.join();
  close(listener_);
}

std::string RawServer::received() const {
  const std::lock_guard lock(mutex_);
  return received_;
}

void RawServer::serve(const std::stop_token& stop) {
  while (is_readable(listener_, stop)) {
    const int descriptor = accept(listener_, nullptr, nullptr);
    if (descriptor < 0) return;
    ++connections_;
    serve_connection(descriptor, stop);
    close(descriptor);
  }
}

void RawServer::serve_connection(int descriptor, const std::stop_token& stop) {
  std::string request;
  while (is_readable(descriptor, stop)) {
    std::array<char, 65536> piece;
    const ssize_t got = recv(descriptor, piece.data(), piece.size(), 0);
    if (got <= 0) return;
    request.append(piece.data(), static_cast<std::size_t>(got));
    if (!is_whole(request)) continue;
    const std::lock_guard lock(mutex_);
    received_ += request;
    request.clear();
    if (answered_ >= answers_.size()) return;
    const std::string& answer = answers_[answered_++];
    if (send(descriptor, answer.data(), answer.size(), MSG_NOSIGNAL) < 0) return;
    if (ending_ == Ending::kClose) return;
  }
}

}  // namespace gpuward::http
