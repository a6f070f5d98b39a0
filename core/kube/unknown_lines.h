// Lines of the kernel with a number that no table has, as the exporter writes them on its Node and
// the remediator reads them there, to show them to a language model. Pure.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "core/kube/objects.h"

namespace gpuward {

// JSON: [{"at": "2026-01-01T12:00:00Z", "line": "NVRM: Xid ..."}]
inline constexpr std::string_view kUnknownLinesAnnotation =
    "gpu-healthcheck.aws-samples.io/unknown-lines";
inline constexpr std::size_t kMostUnknownLines = 4;

struct UnknownKernelLine {
  std::string text;
  kube::WallTime at;
  bool operator==(const UnknownKernelLine&) const = default;
};

// Lines are cut at 500 bytes: 4 KiB for four of them, 13 KiB where JSON has to escape all that they
// say.
[[nodiscard]] std::string unknown_lines_text(const std::vector<UnknownKernelLine>& lines);
// What cannot be read is left out, and so are lines beyond the first four.
[[nodiscard]] std::vector<UnknownKernelLine> unknown_lines_of(const kube::Node& node);

}  // namespace gpuward
