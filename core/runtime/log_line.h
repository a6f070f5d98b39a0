// Renders one log line from any bytes: logfmt or JSON. Pure. Used by log.cpp, which adds the time
// and passes the line to spdlog.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "core/runtime/clock.h"
#include "core/runtime/log.h"

namespace gpuward {

// Returns the line without a line end and without one inside: controls are escaped, invalid UTF-8
// becomes U+FFFD, a value is cut at 8 KiB. A field named ts, level or msg gets a `_` after its
// name. As JSON: one flat object.
[[nodiscard]] std::string render_log_line(LogFormat format, Clock::Wall time, LogLevel level,
                                          std::string_view message, Log::Fields fields);

}  // namespace gpuward
