#include "core/runtime/yaml_scalars.h"

#include <array>
#include <limits>

#include "core/runtime/text.h"

namespace gpuward {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t milliseconds;
};
constexpr std::array<Unit, 5> kUnits{
    {{"d", 86'400'000}, {"h", 3'600'000}, {"m", 60'000}, {"s", 1000}, {"ms", 1}}};
constexpr std::string_view kDigits = "0123456789";

// Returns the index in kUnits of the unit `name`.
std::optional<std::size_t> find_unit(std::string_view name) {
  for (std::size_t i = 0; i < kUnits.size(); ++i) {
    if (kUnits[i].name == name) return i;
  }
  return std::nullopt;
}

}  // namespace

std::optional<bool> parse_yaml_bool(std::string_view text) {
  if (text == "true") return true;
  if (text == "false") return false;
  return std::nullopt;
}

std::optional<std::int64_t> parse_yaml_integer(std::string_view text) {
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  if (digits.size() > 1 && digits.starts_with('0')) return std::nullopt;
  return parse_integer<std::int64_t>(text);
}

std::optional<double> parse_yaml_number(std::string_view text) {
  if (text.find_first_not_of("-.0123456789") != std::string_view::npos) return std::nullopt;
  return parse_integer<double>(text);
}

std::optional<std::chrono::milliseconds> parse_duration(std::string_view text) {
  std::int64_t total = 0;
  std::size_t next_unit = 0;
  if (text.empty()) return std::nullopt;
  while (!text.empty()) {
    const std::size_t number_end = std::min(text.find_first_not_of(kDigits), text.size());
    const auto number = parse_integer<std::int64_t>(text.substr(0, number_end));
    text.remove_prefix(number_end);
    const std::size_t name_end = std::min(text.find_first_of(kDigits), text.size());
    const auto unit = find_unit(text.substr(0, name_end));
    text.remove_prefix(name_end);
    if (!number || !unit || *unit < next_unit) return std::nullopt;
    next_unit = *unit + 1;
    std::int64_t part = 0;
    if (__builtin_mul_overflow(*number, kUnits[*unit].milliseconds, &part) ||
        __builtin_add_overflow(total, part, &total)) {
      return std::nullopt;
    }
  }
  return std::chrono::milliseconds(total);
}

std::string to_duration_text(std::chrono::milliseconds duration) {
  const std::int64_t count = duration.count();
  if (count == 0) return "0s";
  for (const Unit& unit : kUnits) {
    if (count % unit.milliseconds == 0)
      return std::to_string(count / unit.milliseconds).append(unit.name);
  }
  return std::to_string(count) + "ms";
}

}  // namespace gpuward
