#include "tests/alerts/month/remote_write.h"

#include <bit>
#include <cstdint>

namespace gpuward::alerts {
namespace {

void put_varint(std::string& out, std::uint64_t value) {
  while (value >= 0x80) {
    out += static_cast<char>((value & 0x7f) | 0x80);
    value >>= 7;
  }
  out += static_cast<char>(value);
}

void put_bytes(std::string& out, char field, std::string_view bytes) {
  out += static_cast<char>(field << 3 | 2);
  put_varint(out, bytes.size());
  out += bytes;
}

template <typename Integer>
void put_little_endian(std::string& out, Integer value) {
  for (std::size_t i = 0; i < sizeof value; ++i) out += static_cast<char>(value >> (8 * i) & 0xff);
}

std::string message_of(const Sample& sample) {
  std::string out(1, static_cast<char>(1 << 3 | 1));
  put_little_endian(out, std::bit_cast<std::uint64_t>(sample.value));
  out += static_cast<char>(2 << 3);
  put_varint(out, static_cast<std::uint64_t>((kEpoch + sample.at).count()) * 1000);
  return out;
}

std::string message_of(const Series& series) {
  std::string out;
  for (const auto& [name, value] : series.labels) {
    std::string label;
    put_bytes(label, 1, name);
    put_bytes(label, 2, value);
    put_bytes(out, 1, label);
  }
  for (const Sample& sample : series.samples) put_bytes(out, 2, message_of(sample));
  return out;
}

// One literal: valid, and not compressed.
std::string snappy(const std::string& text) {
  constexpr char kLiteralWithFourBytesOfLength = static_cast<char>(63 << 2);
  std::string out;
  put_varint(out, text.size());
  if (text.empty()) return out;
  out += kLiteralWithFourBytesOfLength;
  put_little_endian(out, static_cast<std::uint32_t>(text.size() - 1));
  return out + text;
}

}  // namespace

double stale_value() { return std::bit_cast<double>(std::uint64_t{0x7ff0000000000002}); }

std::string remote_write_body(std::span<const Series> series) {
  std::string out;
  for (const Series& one : series) put_bytes(out, 1, message_of(one));
  return snappy(out);
}

}  // namespace gpuward::alerts
