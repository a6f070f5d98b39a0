#include "core/http/server/request.h"

#include <civetweb.h>

#include <cstring>

#include "core/http/server/tls_context.h"
#include "core/http/syntax/url.h"

namespace gpuward::http {
namespace {

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
  head.request.query = text_of(info.query_string);
  head.request.peer = peer_of(info);
  if (info.client_cert != nullptr) head.request.subject = subject_of(info.client_cert->peer_cert);
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
  auto path = normalise_path(text_of(info.local_uri_raw));
  if (!path) {
    head.framing = refuse(400, "the path is malformed");
    return head;
  }
  head.request.path = std::move(*path);
  head.framing = decide_framing(head.request.method, head.version, head.request.headers,
                                limits.max_body_bytes);
  return head;
}

}  // namespace gpuward::http
