#include "bench/page_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <iostream>
#include <string_view>
#include <utility>

#include "core/runtime/gzip.h"

namespace gpuward::bench {
namespace {

constexpr int kBacklog = 1024;
constexpr int kLookForTheEndMs = 100;
constexpr timeval kMostOfOneRequest{.tv_sec = 2, .tv_usec = 0};

// The path in the request line; empty if none came.
std::string path_of_request(int connection) {
  std::string head;
  std::array<char, 2048> part{};
  while (!head.contains("\r\n\r\n")) {
    const ssize_t count = ::read(connection, part.data(), part.size());
    if (count <= 0) return {};
    head.append(part.data(), static_cast<std::size_t>(count));
  }
  const auto begin = head.find(' ') + 1;
  return head.substr(begin, head.find(' ', begin) - begin);
}

void write_all(int connection, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::send(connection, text.data(), text.size(), MSG_NOSIGNAL);
    if (count <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

}  // namespace

PageServer::PageServer(std::map<std::string, std::string> pages) : pages_(std::move(pages)) {
  for (auto& [path, page] : pages_) page = gzip(page);
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (listener_ < 0 || ::bind(listener_, generic, size) != 0 ||
      ::listen(listener_, kBacklog) != 0 || ::getsockname(listener_, generic, &size) != 0) {
    std::cerr << "cannot serve pages on loopback\n";
    std::exit(1);
  }
  port_ = ntohs(address.sin_port);
  thread_ = std::jthread([this](const std::stop_token& stop) { serve(stop); });
}

PageServer::~PageServer() {
  thread_.request_stop();
  thread_.join();
  ::close(listener_);
}

void PageServer::serve(const std::stop_token& stop) const {
  pollfd waiting{.fd = listener_, .events = POLLIN, .revents = 0};
  while (!stop.stop_requested()) {
    if (::poll(&waiting, 1, kLookForTheEndMs) <= 0) continue;
    const int connection = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0) continue;
    ::setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &kMostOfOneRequest, sizeof kMostOfOneRequest);
    ::setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &kMostOfOneRequest, sizeof kMostOfOneRequest);
    answer(connection);
    ::close(connection);
  }
}

void PageServer::answer(int connection) const {
  const auto page = pages_.find(path_of_request(connection));
  if (page == pages_.end()) return write_all(connection, "HTTP/1.1 404 Not Found\r\n\r\n");
  write_all(connection,
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\n"
            "Content-Encoding: gzip\r\nConnection: close\r\nContent-Length: " +
                std::to_string(page->second.size()) + "\r\n\r\n");
  write_all(connection, page->second);
}

}  // namespace gpuward::bench
