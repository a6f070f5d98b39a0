// Small facts about text that both programs need: UTF-8 that is valid, numbers that are whole,
// words.
#pragma once

#include <array>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/runtime/text.h"

namespace gpuward {

// The length in bytes of the UTF-8 character that `text` starts with; 0 where it is empty or starts
// with a byte that is no character (overlong forms, surrogates and values above U+10FFFF included).
[[nodiscard]] std::size_t utf8_character_length(std::string_view text);
[[nodiscard]] bool is_valid_utf8(std::string_view text);

// Invalid bytes become U+FFFD; control characters (is_control_character) other than tab become
// spaces; at most max_bytes, cut at a character's border.
[[nodiscard]] std::string to_valid_utf8(std::string_view text, std::size_t max_bytes = 4096);

// Whether a UTF-8 character could end a line, steer a terminal, or reorder or hide the text around
// it: C0, DEL, C1, line and paragraph separators, and the invisible format characters, those for
// bidirectional text among them.
[[nodiscard]] bool is_control_character(std::string_view character);
// A control character as logs and JSON write it: `\n`, `\t`, `\u001b`, `\u202e`.
void append_control_escape(std::string& text, std::string_view character);

// With every control character escaped, so that a value is one line of a terminal and steers
// nothing; invalid bytes become U+FFFD.
[[nodiscard]] std::string escaped_line(std::string_view text);
// The same for text that is laid out: line ends and tabs stay.
[[nodiscard]] std::string escaped_lines(std::string_view text);

// The whole of `text` as an integer of type T, without a prefix for the base; nullopt where it is
// anything else or out of range.
template <typename T>
[[nodiscard]] std::optional<T> parse_integer(std::string_view text,
                                             std::same_as<int> auto... base) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base...);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Ten hexadecimal digits that stand for `text` (FNV-1a): for names and references, not for secrets.
[[nodiscard]] std::string short_hash(std::string_view text);

// "a, b and 3 more": the first of `all` things, of which only these are named.
[[nodiscard]] std::string list_first(std::span<const std::string> names, std::size_t all);

// The enumerator, of those from 0 on without a gap, that `words` has this text for.
template <typename Enum, std::size_t kCount>
[[nodiscard]] constexpr std::optional<Enum> enumerator_of(
    const std::array<std::string_view, kCount>& words, std::string_view text) {
  for (std::size_t i = 0; i < kCount; ++i) {
    if (words[i] == text) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

// ASCII letters only.
[[nodiscard]] std::string to_lower(std::string_view text);
[[nodiscard]] std::string to_upper(std::string_view text);

// Without the blanks, tabs and line ends around it.
[[nodiscard]] std::string_view trim(std::string_view text);

}  // namespace gpuward
