#include "exporter/host/boot.h"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "core/runtime/attribute.h"
#include "core/runtime/text.h"

namespace gpuward::exporter {
namespace {

using Wall = std::chrono::system_clock::time_point;

// proc/stat grows with the machine's interrupts and processors.
constexpr std::size_t kMaxStatBytes = 4U << 20U;

// proc(5): the line `btime 1795248226`, seconds since 1970.
std::optional<Wall> boot_time(const std::optional<std::string>& stat) {
  constexpr std::string_view kWord = "\nbtime ";
  if (!stat) return std::nullopt;
  const auto at = stat->find(kWord);
  if (at == std::string::npos) return std::nullopt;
  const std::string_view rest = std::string_view(*stat).substr(at + kWord.size());
  const auto seconds = parse_integer<std::uint32_t>(rest.substr(0, rest.find('\n')));
  if (!seconds) return std::nullopt;
  return Wall(std::chrono::seconds(*seconds));
}

// proc(5): `13384.15 7960.16`, the first is the uptime.
std::optional<std::chrono::milliseconds> uptime(const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  constexpr double kMostSeconds = 1e10;
  const std::string_view word = std::string_view(*text).substr(0, text->find(' '));
  double seconds = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), seconds);
  if (error != std::errc{} || end != word.data() + word.size()) return std::nullopt;
  const bool is_age = seconds >= 0 && seconds < kMostSeconds;  // rejects NaN too
  if (!is_age) return std::nullopt;
  return std::chrono::milliseconds(std::llround(seconds * 1000));
}

}  // namespace

Boot read_boot(const HostPaths& host) {
  return {read_attribute(host.proc / "sys/kernel/random/boot_id").value_or(""),
          boot_time(read_attribute(host.proc / "stat", kMaxStatBytes)),
          uptime(read_attribute(host.proc / "uptime"))};
}

}  // namespace gpuward::exporter
