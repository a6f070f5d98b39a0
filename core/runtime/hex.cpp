#include "core/runtime/hex.h"

#include <random>

namespace gpuward {
namespace {

constexpr std::string_view kHexDigits = "0123456789abcdef";

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

std::string random_hex(std::size_t digits) {
  std::random_device device;
  std::string text;
  text.reserve(digits);
  while (text.size() < digits) text += kHexDigits[device() & 0xFU];
  return text;
}

}  // namespace gpuward
