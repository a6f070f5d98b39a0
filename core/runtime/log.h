// Logs are events with fields, one line each on stderr: logfmt or JSON. Values are always escaped,
// so that logged text cannot forge a line. `error` means that an operator must act. The audit trail
// does not use this log. spdlog is included in log.cpp only.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "core/model/result.h"

namespace gpuward {

enum class LogLevel : std::uint8_t { kDebug, kInfo, kWarn, kError };
enum class LogFormat : std::uint8_t { kLogfmt, kJson };

[[nodiscard]] Result<LogLevel> parse_log_level(std::string_view text);  // debug, info, warn, error
[[nodiscard]] Result<LogFormat> parse_log_format(std::string_view text);  // logfmt, json

class Log {
 public:
  using Fields = std::initializer_list<std::pair<std::string_view, std::string>>;

  Log(LogLevel level, LogFormat format);  // to stderr
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  // Thread-safe. `message` is constant text; variable parts go into fields.
  void debug(std::string_view message, Fields fields = {}) {
    write(LogLevel::kDebug, message, fields);
  }
  void info(std::string_view message, Fields fields = {}) {
    write(LogLevel::kInfo, message, fields);
  }
  void warn(std::string_view message, Fields fields = {}) {
    write(LogLevel::kWarn, message, fields);
  }
  void error(std::string_view message, Fields fields = {}) {
    write(LogLevel::kError, message, fields);
  }

  void set_level(LogLevel level);  // any thread

 private:
  void write(LogLevel level, std::string_view message, Fields fields);
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gpuward
