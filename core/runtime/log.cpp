#include "core/runtime/log.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>

#include "core/runtime/clock.h"
#include "core/runtime/log_line.h"

namespace gpuward {
namespace {

// Lines are rendered already, because spdlog's own patterns do not escape logged text.
class RenderedLine final : public spdlog::formatter {
 public:
  void format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& out) override {
    out.append(message.payload.begin(), message.payload.end());
    out.push_back('\n');
  }
  [[nodiscard]] std::unique_ptr<spdlog::formatter> clone() const override {
    return std::make_unique<RenderedLine>();
  }
};

spdlog::level::level_enum to_spdlog(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarn:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
  }
  return spdlog::level::err;
}

}  // namespace

Result<LogLevel> parse_log_level(std::string_view text) {
  if (text == "debug") return LogLevel::kDebug;
  if (text == "info") return LogLevel::kInfo;
  if (text == "warn") return LogLevel::kWarn;
  if (text == "error") return LogLevel::kError;
  return fail(ErrorKind::kInvalid, "unknown log level: use debug, info, warn or error");
}

Result<LogFormat> parse_log_format(std::string_view text) {
  if (text == "logfmt") return LogFormat::kLogfmt;
  if (text == "json") return LogFormat::kJson;
  return fail(ErrorKind::kInvalid, "unknown log format: use logfmt or json");
}

class Log::Impl {
 public:
  Impl(LogLevel level, LogFormat format)
      : format_(format), logger_("gpuward", std::make_shared<spdlog::sinks::stderr_sink_mt>()) {
    logger_.set_formatter(std::make_unique<RenderedLine>());
    logger_.set_level(to_spdlog(level));
    logger_.flush_on(spdlog::level::trace);
  }

  void write(LogLevel level, std::string_view message, Fields fields) {
    if (!logger_.should_log(to_spdlog(level))) return;
    logger_.log(to_spdlog(level),
                render_log_line(format_, SystemClock().wall(), level, message, fields));
  }
  void set_level(LogLevel level) { logger_.set_level(to_spdlog(level)); }

 private:
  LogFormat format_;
  spdlog::logger logger_;
};

Log::Log(LogLevel level, LogFormat format) : impl_(std::make_unique<Impl>(level, format)) {}
Log::~Log() = default;

void Log::set_level(LogLevel level) { impl_->set_level(level); }
void Log::write(LogLevel level, std::string_view message, Fields fields) {
  impl_->write(level, message, fields);
}

}  // namespace gpuward
