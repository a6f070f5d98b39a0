#include "core/runtime/log_line.h"

#include <cstddef>

#include "core/runtime/text.h"

namespace gpuward {
namespace {

constexpr std::size_t kLongestValue = 8192;

std::string_view name_of(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return "debug";
    case LogLevel::kInfo:
      return "info";
    case LogLevel::kWarn:
      return "warn";
    case LogLevel::kError:
      return "error";
  }
  return "error";
}

void append_quoted(std::string& line, std::string_view text) {
  line += '"';
  text = text.substr(0, kLongestValue);
  while (!text.empty()) {
    const std::size_t length = utf8_character_length(text);
    if (length == 0) {
      line += "\xef\xbf\xbd";
      text.remove_prefix(1);
      continue;
    }
    const std::string_view character = text.substr(0, length);
    if (is_control_character(character)) {
      append_control_escape(line, character);
    } else {
      if (character == "\"" || character == "\\") line += '\\';
      line += character;
    }
    text.remove_prefix(length);
  }
  line += '"';
}

bool is_word(std::string_view text) {
  constexpr std::string_view kWord =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.:/+@%,";
  return !text.empty() && text.size() <= kLongestValue &&
         text.find_first_not_of(kWord) == std::string_view::npos;
}

// A name that needs no quotes and differs from ts, level and msg.
std::string field_name(std::string_view name) {
  std::string safe(name.substr(0, 128));
  for (char& c : safe) {
    if (!is_word({&c, 1}) || c == ':' || c == ',') c = '_';
  }
  if (safe.empty() || safe == "ts" || safe == "level" || safe == "msg") safe += '_';
  return safe;
}

void append_field(std::string& line, LogFormat format, std::string_view name,
                  std::string_view value) {
  switch (format) {
    case LogFormat::kJson:
      line += line.empty() ? "{" : ",";
      append_quoted(line, name);
      line += ':';
      append_quoted(line, value);
      return;
    case LogFormat::kLogfmt:
      if (!line.empty()) line += ' ';
      line += name;
      line += '=';
      if (is_word(value)) {
        line += value;
      } else {
        append_quoted(line, value);
      }
      return;
  }
}

}  // namespace

std::string render_log_line(LogFormat format, Clock::Wall time, LogLevel level,
                            std::string_view message, Log::Fields fields) {
  std::string line;
  append_field(line, format, "ts", to_rfc3339_ms(time));
  append_field(line, format, "level", name_of(level));
  append_field(line, format, "msg", message);
  for (const auto& [name, value] : fields) append_field(line, format, field_name(name), value);
  if (format == LogFormat::kJson) line += '}';
  return line;
}

}  // namespace gpuward
