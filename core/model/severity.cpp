#include "core/model/severity.h"

#include <algorithm>
#include <array>
#include <utility>

namespace gpuward {
namespace {

constexpr std::array<std::pair<std::string_view, Severity>, 6> kNames{{
    {"none", Severity::kNone},
    {"monitor", Severity::kMonitor},
    {"reset", Severity::kReset},
    {"reboot", Severity::kReboot},
    {"isolate", Severity::kIsolate},
    {"pass", Severity::kNone},
}};

constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

std::string_view to_string(Severity severity) {
  return kNames[static_cast<std::size_t>(severity)].first;
}

std::optional<Severity> parse_severity(std::string_view text) {
  for (const auto& [name, severity] : kNames) {
    if (std::ranges::equal(name, text, {}, {}, lower)) return severity;
  }
  return std::nullopt;
}

}  // namespace gpuward
