#include "core/runtime/hex.h"

#include <random>

namespace gpuward {
namespace {

constexpr std::string_view kHexDigits = "0123456789abcdef";

std::optional<unsigned> value_of(char digit) {
  if (digit >= '0' && digit <= '9') return static_cast<unsigned>(digit - '0');
  if (digit >= 'a' && digit <= 'f') return static_cast<unsigned>(digit - 'a') + 10U;
  if (digit >= 'A' && digit <= 'F') return static_cast<unsigned>(digit - 'A') + 10U;
  return std::nullopt;
}

}  // namespace

std::string to_hex(std::string_view bytes) {
  std::string text;
  text.reserve(2 * bytes.size());
  for (const char one : bytes) {
    const auto byte = static_cast<unsigned char>(one);
    text += kHexDigits[byte >> 4U];
    text += kHexDigits[byte & 0xFU];
  }
  return text;
}

std::optional<std::string> from_hex(std::string_view digits) {
  if (digits.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  bytes.reserve(digits.size() / 2);
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    const auto high = value_of(digits[i]);
    const auto low = value_of(digits[i + 1]);
    if (!high || !low) return std::nullopt;
    bytes += static_cast<char>(*high << 4U | *low);
  }
  return bytes;
}

std::string random_hex(std::size_t digits) {
  std::random_device device;
  std::string text;
  text.reserve(digits);
  while (text.size() < digits) text += kHexDigits[device() & 0xFU];
  return text;
}

}  // namespace gpuward
