#include "core/http/server/body.h"

#include <civetweb.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "core/runtime/clock.h"

namespace gpuward::http {
namespace {

constexpr std::size_t kPiece = 16U << 10U;
constexpr std::size_t kMaxForgotten = 8U << 20U;
constexpr std::chrono::milliseconds kLingerTime{500};

bool wait_until_readable(int descriptor, std::chrono::steady_clock::time_point end) {
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(end - SystemClock().steady());
  if (left.count() <= 0) return false;
  pollfd watched{descriptor, POLLIN, 0};
  return poll(&watched, 1, static_cast<int>(left.count())) > 0;
}

}  // namespace

ReceivedBody receive_body(mg_connection* native, const Connection& connection,
                          const Framing& framing, std::size_t max_bytes) {
  ReceivedBody body;
  if (framing.body == BodyKind::kNone) return body;
  const bool has_length = framing.body == BodyKind::kLength;
  if (has_length) body.bytes.reserve(static_cast<std::size_t>(framing.length));
  std::array<char, kPiece> piece;
  for (;;) {
    const int got = mg_read(native, piece.data(), piece.size());
    if (got == 0 && !connection.was_cut()) break;
    if (got <= 0) {
      body.status = connection.was_cut() ? 408 : 400;
      return body;
    }
    body.bytes.append(piece.data(), static_cast<std::size_t>(got));
    if (body.bytes.size() > max_bytes) {
      body.status = 413;
      return body;
    }
  }
  if (has_length && body.bytes.size() != framing.length) body.status = 400;
  return body;
}

void linger(mg_connection* native, Connection& connection) {
  const int descriptor = connection.descriptor();
  if (descriptor < 0 || connection.was_cut()) return;
  if (mg_get_request_info(native)->is_ssl == 0) shutdown(descriptor, SHUT_WR);
  connection.enter(Connection::Phase::kReading, kLingerTime);
  const auto end = SystemClock().steady() + kLingerTime;
  std::array<char, kPiece> piece;
  for (std::size_t forgotten = 0; forgotten < kMaxForgotten;) {
    if (!wait_until_readable(descriptor, end)) return;
    const ssize_t got = recv(descriptor, piece.data(), piece.size(), MSG_DONTWAIT);
    if (got <= 0) return;
    forgotten += static_cast<std::size_t>(got);
  }
}

}  // namespace gpuward::http
