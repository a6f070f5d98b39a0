#include "exporter/checks/rules/go_duration.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

#include "core/runtime/text.h"

namespace gpuward::exporter {
namespace {

struct GoUnit {
  std::string_view name;
  std::int64_t nanoseconds;
};

constexpr std::string_view kNumberCharacters = ".0123456789";
constexpr GoUnit kGoUnits[] = {
    {"ns", 1},
    {"us", 1'000},
    {"\u00b5s", 1'000},  // the micro sign, and the Greek letter that looks like it
    {"\u03bcs", 1'000},
    {"ms", 1'000'000},
    {"s", 1'000'000'000},
    {"m", 60'000'000'000},
    {"h", 3'600'000'000'000},
};

// `1.5`, `1.`, `.5`: not a point alone.
std::optional<double> parse_go_number(std::string_view text) {
  if (std::ranges::count(text, '.') > 1 || text == ".") return std::nullopt;
  return parse_integer<double>("0" + std::string(text));
}

}  // namespace

std::optional<std::chrono::nanoseconds> parse_go_duration(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  if (text == "0") return std::chrono::nanoseconds(0);
  if (text.empty()) return std::nullopt;
  double total = 0;
  while (!text.empty()) {
    const auto number_end = std::min(text.find_first_not_of(kNumberCharacters), text.size());
    const std::string_view number_text = text.substr(0, number_end);
    text.remove_prefix(number_end);
    const auto unit_end = std::min(text.find_first_of(kNumberCharacters), text.size());
    const auto* const unit = std::ranges::find(kGoUnits, text.substr(0, unit_end), &GoUnit::name);
    text.remove_prefix(unit_end);
    const auto number = parse_go_number(number_text);
    if (number_text.empty() || !number || unit == std::end(kGoUnits)) return std::nullopt;
    total += *number * static_cast<double>(unit->nanoseconds);
  }
  if (total >= static_cast<double>(std::numeric_limits<std::int64_t>::max())) return std::nullopt;
  return std::chrono::nanoseconds(static_cast<std::int64_t>(total));
}

}  // namespace gpuward::exporter
