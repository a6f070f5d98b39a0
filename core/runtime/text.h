// Small functions on text that both programs need: valid UTF-8, whole numbers, words, escapes of
// control characters.
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

// Returns the length in bytes of the UTF-8 character at the start of `text`; 0 if it is empty or
// does not start with a valid character (overlong forms, surrogates and values above U+10FFFF are
// invalid).
[[nodiscard]] std::size_t utf8_character_length(std::string_view text);
[[nodiscard]] bool is_valid_utf8(std::string_view text);

// Replaces invalid bytes by U+FFFD and control characters (is_control_character) other than tab by
// spaces; at most max_bytes, cut at the border of a character.
[[nodiscard]] std::string to_valid_utf8(std::string_view text, std::size_t max_bytes = 4096);

// Whether a UTF-8 character could end a line, steer a terminal, or reorder or hide the text around
// it: C0, DEL, C1, line and paragraph separators, and the invisible format characters, those for
// bidirectional text among them.
[[nodiscard]] bool is_control_character(std::string_view character);
// Appends a control character as logs and JSON write it: `
// `, `\t`, `\u001b`, `\u202e`.
void append_control_escape(std::string& text, std::string_view character);

// Escapes every control character, so that a value is one line of a terminal and controls nothing;
// invalid bytes become U+FFFD.
[[nodiscard]] std::string escaped_line(std::string_view text);
// The same for text with a layout: line ends and tabs stay.
[[nodiscard]] std::string escaped_lines(std::string_view text);

// Reads the whole of `text` as an integer of type T, without a prefix for the base; nullopt for
// anything else and out of range.
template <typename T>
[[nodiscard]] std::optional<T> parse_integer(std::string_view text,
                                             std::same_as<int> auto... base) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base...);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Returns ten hexadecimal digits for `text` (FNV-1a): for names and references, not for secrets.
[[nodiscard]] std::string short_hash(std::string_view text);

// "a, b and 3 more": lists `names`, the first of `all` things, and the number of the rest.
[[nodiscard]] std::string list_first(std::span<const std::string> names, std::size_t all);

// Returns the enumerator whose text in `words` is `text`. The enumerators start at 0 without gaps.
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

// Removes surrounding blanks, tabs and line ends.
[[nodiscard]] std::string_view trim(std::string_view text);

}  // namespace gpuward
