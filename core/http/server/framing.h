// Where a request's body ends, decided before a byte of it is read. Strict, because two programs
// that read the same bytes differently are a smuggled request: one Content-Length or one `chunked`,
// never both. Pure; used by the server.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/http/syntax/headers.h"

namespace gpuward::http {

enum class BodyKind : std::uint8_t { kNone, kLength, kChunked };

struct Framing {
  BodyKind body = BodyKind::kNone;
  std::uint64_t length = 0;
  bool expects_continue = false;
  int status = 0;                // not 0: refuse with this status
  std::string_view reason = {};  // constant text for the refusal
};

[[nodiscard]] inline Framing refuse(int status, std::string_view reason) {
  return {.status = status, .reason = reason};
}

// `max_body_bytes`: a longer Content-Length is refused with 413.
[[nodiscard]] Framing decide_framing(std::string_view method, std::string_view version,
                                     const HeaderList& headers, std::uint64_t max_body_bytes);

}  // namespace gpuward::http
