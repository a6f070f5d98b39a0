// Reads the part of protobuf's wire format (protobuf.dev/programming-guides/encoding) that the
// kubelet's response needs. Never allocates, never recurses, never reads past its input; a fault
// ends the reading. Used by pod_resources.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace gpuward::exporter {

enum class WireType : std::uint8_t { kVarint, kFixed64, kBytes, kFixed32 };

struct WireField {
  std::uint32_t number = 0;
  WireType type = WireType::kVarint;
  std::uint64_t value = 0;      // of kVarint
  std::string_view bytes = {};  // of kBytes: a part of the message; else empty
};

class WireReader {
 public:
  // The message must outlive the reader and its fields.
  explicit WireReader(std::string_view message) : rest_(message) {}

  // Returns the next field; nullopt at the end and if the message is broken.
  [[nodiscard]] std::optional<WireField> next();
  [[nodiscard]] bool is_broken() const { return is_broken_; }

 private:
  [[nodiscard]] std::optional<std::uint64_t> take_varint();
  [[nodiscard]] std::optional<std::string_view> take(std::uint64_t length);
  [[nodiscard]] std::optional<WireField> fail();

  std::string_view rest_;
  bool is_broken_ = false;
};

}  // namespace gpuward::exporter
