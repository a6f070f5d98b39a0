// One log line as text: logfmt or JSON, whatever bytes are logged. Pure. Used by log.cpp, which
// adds the time and passes the line to spdlog.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "core/runtime/clock.h"
#include "core/runtime/log.h"

namespace gpuward {

// Without a line end, and never with one inside: controls are escaped, invalid UTF-8 becomes
// U+FFFD, a value is cut at 8 KiB. A field called ts, level or msg gets a `_` behind its name. As
// JSON: one flat object.
[[nodiscard]] std::string render_log_line(LogFormat format, Clock::Wall time, LogLevel level,
                                          std::string_view message, Log::Fields fields);

}  // namespace gpuward
