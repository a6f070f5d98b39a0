// Words and numbers in tables that programs print. Pure. Used by the parsers for the output of
// nccl-tests, libfabric, perftest and nvidia-smi.
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <vector>

#include "core/runtime/text.h"

namespace gpuward::exporter {

// Splits a line at blanks and tabs, and returns the first 64 words at most.
[[nodiscard]] inline std::vector<std::string_view> words_of(std::string_view line) {
  constexpr std::size_t kMost = 64;
  std::vector<std::string_view> words;
  for (line = trim(line); !line.empty() && words.size() < kMost; line = trim(line)) {
    const std::size_t end = std::min(line.find_first_of(" \t"), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
  return words;
}

// Returns the whole word as a finite number.
[[nodiscard]] inline std::optional<double> decimal(std::string_view word) {
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc{} || end != word.data() + word.size() || !std::isfinite(value))
    return std::nullopt;
  return value;
}

template <typename Visit>
void for_each_line(std::string_view text, const Visit& visit) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    visit(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

}  // namespace gpuward::exporter
