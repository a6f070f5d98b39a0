#include "core/http/server/framing.h"

#include <optional>

#include "core/runtime/text.h"

namespace gpuward::http {
namespace {

// from_chars takes a sign for signed types only, so this is digits and nothing else.
std::optional<std::uint64_t> parse_length(std::string_view text) {
  return parse_integer<std::uint64_t>(text);
}

bool needs_length(std::string_view method) {
  return method == "POST" || method == "PUT" || method == "PATCH";
}

Framing decide_body(std::string_view method, const HeaderList& headers, std::uint64_t max_bytes) {
  const std::string* encoding = find_header(headers, "Transfer-Encoding");
  const std::string* length = find_header(headers, "Content-Length");
  Framing framing;
  if (encoding != nullptr) {
    if (length != nullptr)
      return refuse(400, "Content-Length is not allowed with Transfer-Encoding");
    if (!same_name(*encoding, "chunked")) return refuse(400, "Transfer-Encoding must be chunked");
    framing.body = BodyKind::kChunked;
  } else if (length != nullptr) {
    const auto bytes = parse_length(*length);
    if (!bytes) return refuse(400, "Content-Length is not a number");
    if (*bytes > max_bytes) return refuse(413, "the body is too large");
    framing.body = *bytes == 0 ? BodyKind::kNone : BodyKind::kLength;
    framing.length = *bytes;
  } else if (needs_length(method)) {
    return refuse(411, "Content-Length or chunked Transfer-Encoding is required");
  }
  return framing;
}

}  // namespace

Framing decide_framing(std::string_view method, std::string_view version, const HeaderList& headers,
                       std::uint64_t max_body_bytes) {
  if (count_headers(headers, "Content-Length") > 1) return refuse(400, "two Content-Length");
  if (count_headers(headers, "Transfer-Encoding") > 1) return refuse(400, "two Transfer-Encoding");
  const std::size_t hosts = count_headers(headers, "Host");
  if (hosts > 1 || (hosts == 0 && version == "1.1"))
    return refuse(400, "exactly one Host header is required");
  Framing framing = decide_body(method, headers, max_body_bytes);
  if (framing.status != 0) return framing;
  if (framing.body == BodyKind::kChunked && version == "1.0") {
    return refuse(400, "HTTP/1.0 does not support Transfer-Encoding");
  }
  if (const std::string* expect = find_header(headers, "Expect")) {
    if (!same_name(*expect, "100-continue")) return refuse(417, "unknown expectation");
    framing.expects_continue = framing.body != BodyKind::kNone;
  }
  return framing;
}

}  // namespace gpuward::http
