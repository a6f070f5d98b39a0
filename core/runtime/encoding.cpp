#include "core/runtime/encoding.h"

#include <openssl/evp.h>

#include <random>

#include "core/runtime/text.h"

namespace gpuward {
namespace {

constexpr std::string_view kBase64 =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view kHex = "0123456789abcdef";

unsigned char* data_of(std::string& bytes) {
  return reinterpret_cast<unsigned char*>(bytes.data());
}
const unsigned char* data_of(std::string_view bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

}  // namespace

std::string encode_base64(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');  // libcrypto ends it with a NUL
  EVP_EncodeBlock(data_of(text), data_of(bytes), static_cast<int>(bytes.size()));
  text.pop_back();
  return text;
}

// libcrypto accepts padding and white space in wrong places: both are checked here.
std::optional<std::string> decode_base64(std::string_view text) {
  std::string packed(text);
  std::erase_if(packed, [](char c) { return c == '\r' || c == '\n' || c == ' ' || c == '\t'; });
  const std::size_t padding = packed.ends_with("==") ? 2 : packed.ends_with('=') ? 1 : 0;
  const bool is_base64 =
      packed.size() % 4 == 0 && packed.find_first_not_of(kBase64) >= packed.size() - padding;
  if (!is_base64) return std::nullopt;
  std::string bytes(packed.size() / 4 * 3, '\0');
  EVP_DecodeBlock(data_of(bytes), data_of(std::string_view(packed)),
                  static_cast<int>(packed.size()));
  bytes.resize(bytes.size() - padding);
  return bytes;
}

// libcrypto writes only upper-case digits. If it cannot read a text, it leaves an error on the
// thread, which the next TLS call there would report as its own.
std::string to_hex(std::string_view bytes) {
  std::string text;
  for (const char one : bytes) {
    const auto byte = static_cast<unsigned char>(one);
    text += {kHex[byte >> 4U], kHex[byte & 0xFU]};
  }
  return text;
}

std::optional<std::string> from_hex(std::string_view digits) {
  std::string bytes;
  for (; digits.size() >= 2; digits.remove_prefix(2)) {
    const auto byte = parse_integer<unsigned char>(digits.substr(0, 2), 16);
    if (!byte) return std::nullopt;
    bytes += static_cast<char>(*byte);
  }
  return digits.empty() ? std::optional(std::move(bytes)) : std::nullopt;
}

std::string random_hex(std::size_t digits) {
  std::random_device device;
  std::string text;
  while (text.size() < digits) text += kHex[device() & 0xFU];
  return text;
}

}  // namespace gpuward
