#include "exporter/gpu/nvidia/sentinel.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

#include "core/runtime/text.h"

namespace gpuward::exporter::nvml {

Maybe<std::uint32_t> number_from(std::uint32_t raw) {
  constexpr std::uint32_t kBlanks = 0x7FFFFFF0;  // DCGM_INT32_BLANK
  constexpr std::uint32_t kLastBlank = 0x7FFFFFFF;
  if (raw == std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
  if (raw >= kBlanks && raw <= kLastBlank) return std::nullopt;
  return raw;
}

Maybe<std::uint64_t> number_from(std::uint64_t raw) {
  constexpr std::uint64_t kBlanks = 0x7FFFFFFFFFFFFFF0;  // DCGM_INT64_BLANK
  constexpr std::uint64_t kLastBlank = 0x7FFFFFFFFFFFFFFF;
  if (raw == std::numeric_limits<std::uint64_t>::max()) return std::nullopt;
  if (raw >= kBlanks && raw <= kLastBlank) return std::nullopt;
  return raw;
}

Maybe<double> celsius_from(std::int32_t raw) {
  // Minus one may be a margin; the other sentinels of number_from() are never temperatures.
  if (raw != -1 && !number_from(static_cast<std::uint32_t>(raw))) return std::nullopt;
  return static_cast<double>(raw);
}

Maybe<bool> claim_from(std::uint32_t raw) {
  if (raw > 1) return std::nullopt;
  return raw == 1;
}

Maybe<double> ratio_from_percent(std::uint32_t raw) {
  if (raw > 100) return std::nullopt;
  return static_cast<double>(raw) / 100.0;
}

Maybe<double> from_thousandths(Maybe<std::uint64_t> raw) {
  if (!raw) return std::nullopt;
  return static_cast<double>(*raw) / 1000.0;
}

std::string text_from(std::span<const char> buffer) {
  constexpr std::array<std::string_view, 7> kNothing{
      "N/A", "[N/A]", "Not Supported", "[Not Supported]", "Unknown", "[Unknown Error]", "ERR!"};
  const auto end = std::ranges::find(buffer, '\0');
  const std::string_view text =
      trim({buffer.data(), static_cast<std::size_t>(end - buffer.begin())});
  if (std::ranges::find(kNothing, text) != kNothing.end()) return {};
  return to_valid_utf8(text);
}

}  // namespace gpuward::exporter::nvml
