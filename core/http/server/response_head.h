// The bytes before a response's body, and the constant bodies of refusals. Pure; used by the
// server.
#pragma once

#include <string>
#include <string_view>

#include "core/http/server/server.h"

namespace gpuward::http {

enum class Persistence : std::uint8_t { kKeepAlive, kClose };

[[nodiscard]] std::string_view reason_phrase(int status);

// Whether the status may carry a body at all (not 1xx, 204, 304).
[[nodiscard]] bool may_have_body(int status);

// Status line and headers with the empty line. Header fields with a line break in them are left
// out, so that no handler can be made to write a second response.
[[nodiscard]] std::string render_head(const Response& response, Persistence persistence,
                                      std::string_view version);

}  // namespace gpuward::http
