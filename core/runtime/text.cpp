#include "core/runtime/text.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>

namespace gpuward {
namespace {

// Unicode 15, table 3-7: the ranges of the first two bytes; all further bytes are 80..bf.
struct Form {
  std::uint8_t first_low, first_high, second_low, second_high;
  std::size_t length;
};
constexpr std::array<Form, 8> kForms{{
    {0xc2, 0xdf, 0x80, 0xbf, 2},
    {0xe0, 0xe0, 0xa0, 0xbf, 3},
    {0xe1, 0xec, 0x80, 0xbf, 3},
    {0xed, 0xed, 0x80, 0x9f, 3},
    {0xee, 0xef, 0x80, 0xbf, 3},
    {0xf0, 0xf0, 0x90, 0xbf, 4},
    {0xf1, 0xf3, 0x80, 0xbf, 4},
    {0xf4, 0xf4, 0x80, 0x8f, 4},
}};

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

std::uint8_t byte_at(std::string_view text, std::size_t index) {
  return static_cast<std::uint8_t>(text[index]);
}

// Characters above C1 of Unicode's categories Cf, Zl and Zp that are invisible, or that reorder or
// hide text. Prefixed number signs and similar ones are visible.
struct Range {
  char32_t first, last;
};
constexpr std::array<Range, 8> kFormatCharacters{{{0x00ad, 0x00ad},
                                                  {0x061c, 0x061c},
                                                  {0x180e, 0x180e},
                                                  {0x200b, 0x200f},
                                                  {0x2028, 0x202e},
                                                  {0x2060, 0x206f},
                                                  {0xfeff, 0xfeff},
                                                  {0xfff9, 0xfffb}}};

bool fits(const Form& form, std::string_view text) {
  const std::uint8_t first = byte_at(text, 0);
  if (first < form.first_low || first > form.first_high || text.size() < form.length) return false;
  const std::uint8_t second = byte_at(text, 1);
  if (second < form.second_low || second > form.second_high) return false;
  for (std::size_t i = 2; i < form.length; ++i) {
    if ((byte_at(text, i) & 0xc0U) != 0x80U) return false;
  }
  return true;
}

// `character` is valid UTF-8.
char32_t code_point_of(std::string_view character) {
  constexpr std::array<std::uint32_t, 5> kBitsOfFirst{0, 0x7f, 0x1f, 0x0f, 0x07};
  char32_t code = byte_at(character, 0) & kBitsOfFirst[character.size()];
  for (std::size_t i = 1; i < character.size(); ++i)
    code = (code << 6U) | (byte_at(character, i) & 0x3fU);
  return code;
}

// Returns the length of the printable ASCII at the start of `text`.
std::size_t plain_length(std::string_view text) {
  const auto* const end = std::ranges::find_if(text, [](char c) { return c < ' ' || c > '~'; });
  return static_cast<std::size_t>(end - text.begin());
}

std::string escaped_except(std::string_view kept, std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  while (!text.empty()) {
    const std::size_t plain = plain_length(text);
    escaped += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    const std::size_t length = utf8_character_length(text);
    const std::string_view character = length == 0 ? kReplacement : text.substr(0, length);
    if (is_control_character(character) && !kept.contains(character)) {
      append_control_escape(escaped, character);
    } else {
      escaped += character;
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return escaped;
}

}  // namespace

std::size_t utf8_character_length(std::string_view text) {
  if (text.empty()) return 0;
  if (byte_at(text, 0) < 0x80) return 1;
  for (const Form& form : kForms) {
    if (fits(form, text)) return form.length;
  }
  return 0;
}

bool is_valid_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = utf8_character_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string to_valid_utf8(std::string_view text, std::size_t max_bytes) {
  std::string valid;
  valid.reserve(std::min(text.size(), max_bytes));
  while (!text.empty()) {
    const std::size_t length = utf8_character_length(text);
    std::string_view character = length == 0 ? kReplacement : text.substr(0, length);
    if (character != "\t" && is_control_character(character)) character = " ";
    if (valid.size() + character.size() > max_bytes) break;
    valid += character;
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return valid;
}

bool is_control_character(std::string_view character) {
  const char32_t code = code_point_of(character);
  if (code < 0xa0) return code < 0x20 || code >= 0x7f;
  return std::ranges::any_of(kFormatCharacters,
                             [code](Range one) { return one.first <= code && code <= one.last; });
}

void append_control_escape(std::string& text, std::string_view character) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  if (character == "\n") {
    text += "\\n";
  } else if (character == "\r") {
    text += "\\r";
  } else if (character == "\t") {
    text += "\\t";
  } else {
    const char32_t code = code_point_of(character);
    text += "\\u";
    for (const unsigned shift : {12U, 8U, 4U, 0U}) text += kDigits[(code >> shift) & 0xfU];
  }
}

std::string escaped_line(std::string_view text) { return escaped_except("", text); }

std::string escaped_lines(std::string_view text) { return escaped_except("\n\t", text); }

std::string to_lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lower;
}

std::string to_upper(std::string_view text) {
  std::string upper(text);
  for (char& c : upper) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return upper;
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n\v\f";
  const auto first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::string short_hash(std::string_view text) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const char byte : text) hash = (hash ^ static_cast<unsigned char>(byte)) * 1099511628211ULL;
  std::array<char, 17> hex{};
  std::snprintf(hex.data(), hex.size(), "%016llx", static_cast<unsigned long long>(hash));
  return std::string(hex.data()).substr(6);
}

std::string list_first(std::span<const std::string> names, std::size_t all) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  if (all > names.size()) text += " and " + std::to_string(all - names.size()) + " more";
  return text;
}

}  // namespace gpuward
