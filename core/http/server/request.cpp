#include "core/http/server/request.h"

#include <civetweb.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>

#include "core/http/server/tls_context.h"
#include "core/http/syntax/url.h"
#include "core/runtime/clock.h"

namespace gpuward::http {
namespace {

constexpr std::size_t kPiece = 16U << 10U;
constexpr std::size_t kMaxForgotten = 16U << 20U;
constexpr std::chrono::milliseconds kLingerTime{500};

bool wait_until_readable(int descriptor, std::chrono::steady_clock::time_point end) {
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(end - SystemClock().steady());
  if (left.count() <= 0) return false;
  pollfd watched{descriptor, POLLIN, 0};
  return poll(&watched, 1, static_cast<int>(left.count())) > 0;
}

std::string_view text_of(const char* text) { return text == nullptr ? "" : text; }

// civetweb stops reading fields at 64 of them, at a folded line and at a nameless one, and ignores
// the rest: a Content-Length in there would turn the body into a second request. In its buffer,
// which it has cut with NULs, the line end of the last field it read must be followed by the empty
// line.
bool ends_after_last_field(const mg_request_info& info) {
  if (info.num_headers == 0) return true;  // without Host: refused, or HTTP/1.0, which closes
  const char* end = info.http_headers[info.num_headers - 1].value;
  end += std::strlen(end) + 1;
  if (*end == '\0') ++end;  // CR and LF both became NUL
  return *end == '\r' || *end == '\n';
}

// "Content-Length : 5" is another header to other programs (RFC 9112 section 5.1: refuse).
bool has_space_before_colon(const mg_header& header) {
  const char* colon = header.name + std::strlen(header.name);
  return colon[1] == '\0' && header.value != colon + 1;
}

std::string peer_of(const mg_request_info& info) {
  std::string_view peer = text_of(info.remote_addr);
  if (peer.starts_with("::ffff:")) peer.remove_prefix(7);
  return std::string(peer);
}

// As civetweb decides it: with a Connection field only an explicit keep-alive counts.
bool wants_keep_alive(const ReceivedHead& head) {
  const std::string* connection = find_header(head.request.headers, "Connection");
  return connection == nullptr ? head.version == "1.1" : has_word(*connection, "keep-alive");
}

// Makes room as append() would, but asks for it first: while it grows, the body is there twice.
bool make_room(std::string& body, std::size_t more, BodyShare& share) {
  if (body.capacity() - body.size() >= more) return true;
  const std::size_t room = std::max(2 * body.capacity(), body.size() + more);
  if (!share.resize(body.capacity() + room)) return false;
  body.reserve(room);
  return share.resize(body.capacity());
}

std::size_t size_of_head(const mg_request_info& info) {
  std::size_t size = text_of(info.request_uri).size() + text_of(info.query_string).size() + 16;
  for (int i = 0; i < info.num_headers; ++i) {
    size += std::strlen(info.http_headers[i].name) + std::strlen(info.http_headers[i].value) + 4;
  }
  return size;
}

}  // namespace

ReceivedHead receive_head(mg_connection* native, const Limits& limits) {
  const mg_request_info& info = *mg_get_request_info(native);
  ReceivedHead head;
  head.version = text_of(info.http_version);
  head.request.method = text_of(info.request_method);
  head.request.peer = peer_of(info);
  // Without a client CA none is asked for, and with one the handshake fails unless it is verified.
  if (info.client_cert != nullptr && info.client_cert->peer_cert != nullptr) {
    head.request.has_verified_certificate = true;
    head.request.subject = subject_of(info.client_cert->peer_cert);
  }
  bool has_bad_field = !ends_after_last_field(info);
  for (int i = 0; i < info.num_headers; ++i) {
    const mg_header& header = info.http_headers[i];
    has_bad_field = has_bad_field || has_space_before_colon(header);
    head.request.headers.emplace_back(header.name, header.value);
  }
  head.wants_keep_alive = wants_keep_alive(head);
  if (size_of_head(info) > limits.max_header_bytes || info.num_headers >= MG_MAX_HEADERS) {
    head.framing = refuse(431, "the header is too large");
    return head;
  }
  if (has_bad_field) {
    head.framing = refuse(400, "a header field is malformed");
    return head;
  }
  const auto target = split_target(text_of(info.request_uri));
  auto path = target ? normalise_path(target->path) : std::unexpected(target.error());
  if (!path) {
    head.framing = refuse(400, "the path is malformed");
    return head;
  }
  head.request.path = std::move(*path);
  // civetweb has cut the query off where it serves the target itself.
  head.request.query = info.query_string == nullptr ? target->query : info.query_string;
  head.request.authority =
      target->authority.empty() ? head.request.header("Host") : target->authority;
  head.framing = decide_framing(head.request.method, head.version, head.request.headers,
                                limits.max_body_bytes);
  return head;
}

ReceivedBody receive_body(mg_connection* native, const Connection& connection,
                          const Framing& framing, std::size_t max_bytes, BodyShare& share) {
  ReceivedBody body;
  if (framing.body == BodyKind::kNone) return body;
  const bool has_length = framing.body == BodyKind::kLength;
  body.bytes.reserve(has_length ? static_cast<std::size_t>(framing.length)
                                : BodyBudget::kSmallBody);
  std::array<char, kPiece> piece;
  for (;;) {
    const int got = mg_read(native, piece.data(), piece.size());
    const bool is_whole = has_length && body.bytes.size() == framing.length;
    const bool is_too_late = connection.was_cut() || (connection.is_overdue() && !is_whole);
    if (got == 0 && !is_too_late) break;
    if (got <= 0) {
      body.status = is_too_late ? 408 : 400;
      return body;
    }
    const auto size = static_cast<std::size_t>(got);
    if (body.bytes.size() + size > max_bytes) {
      body.status = 413;
      return body;
    }
    if (!make_room(body.bytes, size, share)) {
      body.status = 503;
      return body;
    }
    body.bytes.append(piece.data(), size);
  }
  if (has_length && body.bytes.size() != framing.length) body.status = 400;
  return body;
}

void linger(mg_connection* native, Connection& connection) {
  const int descriptor = connection.descriptor();
  if (descriptor < 0 || connection.was_cut()) return;
  if (mg_get_request_info(native)->is_ssl == 0) shutdown(descriptor, SHUT_WR);
  connection.enter(Connection::Phase::kLingering, kLingerTime);
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
