#include "exporter/pods/wire.h"

namespace gpuward::exporter {
namespace {

constexpr std::uint64_t kLargestFieldNumber = (1U << 29U) - 1;
constexpr int kLongestVarint = 10;

}  // namespace

std::optional<WireField> WireReader::fail() {
  is_broken_ = true;
  rest_ = {};
  return std::nullopt;
}

std::optional<std::uint64_t> WireReader::take_varint() {
  std::uint64_t value = 0;
  for (int i = 0; i < kLongestVarint && !rest_.empty(); ++i) {
    const auto byte = static_cast<std::uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    if (i == kLongestVarint - 1 && byte > 1) return std::nullopt;  // more than 64 bits
    value |= static_cast<std::uint64_t>(byte & 0x7FU) << (7U * static_cast<unsigned>(i));
    if ((byte & 0x80U) == 0) return value;
  }
  return std::nullopt;
}

std::optional<std::string_view> WireReader::take(std::uint64_t length) {
  if (length > rest_.size()) return std::nullopt;
  const std::string_view bytes = rest_.substr(0, length);
  rest_.remove_prefix(length);
  return bytes;
}

std::optional<WireField> WireReader::next() {
  if (rest_.empty()) return std::nullopt;
  const auto tag = take_varint();
  if (!tag || (*tag >> 3U) == 0 || (*tag >> 3U) > kLargestFieldNumber) return fail();
  WireField field;
  field.number = static_cast<std::uint32_t>(*tag >> 3U);
  switch (*tag & 7U) {  // untrusted; 3 and 4 were groups, 6 and 7 are unused
    case 0: {
      const auto value = take_varint();
      if (!value) return fail();
      field.value = *value;
      return field;
    }
    case 1:
      field.type = WireType::kFixed64;
      return take(8) ? std::optional(field) : fail();
    case 2: {
      field.type = WireType::kBytes;
      const auto length = take_varint();
      const auto bytes = length ? take(*length) : std::nullopt;
      if (!bytes) return fail();
      field.bytes = *bytes;
      return field;
    }
    case 5:
      field.type = WireType::kFixed32;
      return take(4) ? std::optional(field) : fail();
  }
  return fail();
}

}  // namespace gpuward::exporter
