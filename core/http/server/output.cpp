#include "core/http/server/output.h"

#include <civetweb.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <climits>
#include <string>

#include "core/http/server/socket_table.h"

namespace gpuward::http {
namespace {

constexpr std::chrono::hours kNoDeadline{24 * 365};
constexpr std::size_t kOneRecord = 16U << 10U;  // of TLS: what fits goes out in one write

void drop_front(std::array<iovec, 2>& parts, std::size_t sent) {
  for (iovec& part : parts) {
    const std::size_t taken = std::min(sent, part.iov_len);
    part.iov_base = static_cast<char*>(part.iov_base) + taken;
    part.iov_len -= taken;
    sent -= taken;
  }
}

// The watching thread shuts a socket whose deadline has passed, and that ends this wait.
bool wait_until_writable(int descriptor) {
  pollfd watched{descriptor, POLLOUT, 0};
  const int ready = poll(&watched, 1, -1);
  if (ready < 0) return errno == EINTR;
  return (watched.revents & (POLLERR | POLLNVAL)) == 0;
}

iovec part_of(std::string_view bytes) {
  return {const_cast<char*>(bytes.data()), bytes.size()};  // sendmsg only reads
}

std::string hexadecimal(std::size_t number) {
  std::array<char, 20> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), number, 16);
  return error == std::errc{} ? std::string(text.data(), end) : std::string{};
}

}  // namespace

Output::Output(mg_connection* native, Connection& connection) : native_(native) {
  if (mg_get_request_info(native)->is_ssl == 0) plain_socket_ = connection.descriptor();
}

bool Output::send(std::string_view first, std::string_view second) {
  if (plain_socket_ >= 0) return send_plain(first, second);
  if (first.size() + second.size() > kOneRecord) {
    return send_through_civetweb(first) && send_through_civetweb(second);
  }
  std::string both;
  both.reserve(first.size() + second.size());
  both.append(first).append(second);
  return send_through_civetweb(both);
}

bool Output::send_plain(std::string_view first, std::string_view second) {
  std::array<iovec, 2> parts{part_of(first), part_of(second)};
  std::size_t left = first.size() + second.size();
  while (left > 0) {
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = parts.size();
    const ssize_t sent = sendmsg(plain_socket_, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) {
      left -= static_cast<std::size_t>(sent);
      drop_front(parts, static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (!wait_until_writable(plain_socket_)) return false;
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

bool Output::send_through_civetweb(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t piece = std::min<std::size_t>(bytes.size(), INT_MAX);
    const int sent = mg_write(native_, bytes.data(), piece);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

StreamOutput::StreamOutput(Output& output, Connection& connection, const Connections& connections,
                           std::chrono::milliseconds write_timeout, ChunkMode mode)
    : output_(output),
      connection_(connection),
      connections_(connections),
      write_timeout_(write_timeout),
      mode_(mode) {
  connection_.enter(Connection::Phase::kStreaming, kNoDeadline);
}

bool StreamOutput::write(std::string_view bytes) {
  is_broken_ = is_broken_ || connections_.is_stopping() || connection_.was_cut() ||
               peer_is_gone(connection_.descriptor());
  if (is_broken_ || bytes.empty()) return !is_broken_;
  connection_.enter(Connection::Phase::kStreaming, write_timeout_);
  if (mode_ == ChunkMode::kRaw) {
    is_broken_ = !output_.send(bytes);
  } else {
    const std::string head = hexadecimal(bytes.size()) + "\r\n";
    std::string tail(bytes);
    tail += "\r\n";
    is_broken_ = !output_.send(head, tail);
  }
  connection_.enter(Connection::Phase::kStreaming, kNoDeadline);
  return !is_broken_;
}

bool StreamOutput::finish() {
  if (is_broken_ || connections_.is_stopping()) return false;
  if (mode_ == ChunkMode::kRaw) return true;
  connection_.enter(Connection::Phase::kWriting, write_timeout_);
  return output_.send("0\r\n\r\n");
}

}  // namespace gpuward::http
