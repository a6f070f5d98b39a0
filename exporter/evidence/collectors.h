// What evidence consists of: one row a program, with the time and the bytes that it may take. A new
// one is a row in collectors.cpp. Used by collect().
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace gpuward::exporter {

enum class EvidencePart : std::uint8_t {
  kOutput,  // what it prints
  kTail,    // the end of what it prints
  kReport   // the file that it writes, whose path follows its arguments; with .gz behind it or not
};

struct Collector {
  std::string_view file;  // in the archive
  std::string_view program;
  std::span<const std::string_view> arguments;
  std::chrono::seconds timeout;
  std::size_t max_bytes;
  EvidencePart part = EvidencePart::kOutput;
};

// In the order in which they run: what is quick first.
[[nodiscard]] std::span<const Collector> all_collectors();

}  // namespace gpuward::exporter
