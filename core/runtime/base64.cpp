#include "core/runtime/base64.h"

#include <cstdint>

namespace gpuward {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::optional<std::uint32_t> digit_value(char digit) {
  if (digit >= 'A' && digit <= 'Z') return static_cast<std::uint32_t>(digit - 'A');
  if (digit >= 'a' && digit <= 'z') return static_cast<std::uint32_t>(digit - 'a' + 26);
  if (digit >= '0' && digit <= '9') return static_cast<std::uint32_t>(digit - '0' + 52);
  if (digit == '+') return 62;
  if (digit == '/') return 63;
  return std::nullopt;
}

// Appends the first `count` of the three bytes in the low 24 bits of `group`.
void append_bytes(std::string& bytes, std::uint32_t group, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    bytes += static_cast<char>((group >> (16 - 8 * i)) & 0xffU);
}

}  // namespace

std::string encode_base64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  while (!bytes.empty()) {
    const std::size_t count = std::min<std::size_t>(bytes.size(), 3);
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < count; ++i) {
      group |= static_cast<std::uint32_t>(static_cast<std::uint8_t>(bytes[i])) << (16 - 8 * i);
    }
    for (std::size_t i = 0; i < 4; ++i)
      text += i <= count ? kAlphabet[(group >> (18 - 6 * i)) & 0x3fU] : '=';
    bytes.remove_prefix(count);
  }
  return text;
}

std::optional<std::string> decode_base64(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  std::uint32_t group = 0;
  std::size_t digits = 0;
  std::size_t padding = 0;
  for (const char c : text) {
    if (c == '\r' || c == '\n' || c == ' ' || c == '\t') continue;
    if (c == '=') {
      if (digits + ++padding > 4) return std::nullopt;
      continue;
    }
    const auto value = digit_value(c);
    if (!value || padding != 0) return std::nullopt;
    group = (group << 6U) | *value;
    if (++digits < 4) continue;
    append_bytes(bytes, group, 3);
    group = 0;
    digits = 0;
  }
  if (digits == 0) return padding == 0 ? std::optional(std::move(bytes)) : std::nullopt;
  if (digits == 1 || digits + padding != 4) return std::nullopt;
  append_bytes(bytes, group << (6 * padding), digits - 1);
  return bytes;
}

}  // namespace gpuward
