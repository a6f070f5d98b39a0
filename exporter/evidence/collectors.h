// The parts of the evidence: one row a program, with its limits of time and bytes. A new one is a
// row in collectors.cpp. Used by collect().
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace gpuward::exporter {

enum class EvidencePart : std::uint8_t {
  kOutput,  // its output
  kTail,    // the end of its output
  kReport   // the file that it writes to its last argument, perhaps with .gz added
};

struct Collector {
  std::string_view file;  // in the archive
  std::string_view program;
  std::span<const std::string_view> arguments;
  std::chrono::seconds timeout;
  std::size_t max_bytes;
  EvidencePart part = EvidencePart::kOutput;
};

// In the order in which they run: quick ones first.
[[nodiscard]] std::span<const Collector> all_collectors();

}  // namespace gpuward::exporter
