// The strict value of a plain word of a YAML file: no octal, no hexadecimal, no `yes`. Pure; used
// by YamlMap.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gpuward {

// `true` or `false`.
[[nodiscard]] std::optional<bool> parse_yaml_bool(std::string_view text);
// Decimal digits, with an optional minus; no leading zeros (YAML 1.1 reads 010 as 8).
[[nodiscard]] std::optional<std::int64_t> parse_yaml_integer(std::string_view text);
// A finite decimal number without an exponent: readers disagree about forms such as 1e3.
[[nodiscard]] std::optional<double> parse_yaml_number(std::string_view text);
// Numbers with units d, h, m, s, ms, largest first: `90s`, `1h30m`, `1500ms`, `7d`.
[[nodiscard]] std::optional<std::chrono::milliseconds> parse_duration(std::string_view text);
// The inverse, in the largest unit that divides it.
[[nodiscard]] std::string to_duration_text(std::chrono::milliseconds duration);

}  // namespace gpuward
