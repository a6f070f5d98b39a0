// The evidence on the node, below --state.path: what a file is called, how it is written, and which
// older ones make room for it. Used by the command collect-evidence.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/model/result.h"
#include "core/runtime/clock.h"

namespace gpuward::exporter {

// "gpu-01-ab-1-20261128T020000Z": of the Remediation, at most 230 bytes, another one each second.
// kInvalid for a name that no Remediation can have: no path, nothing that leads out of a folder.
[[nodiscard]] Result<std::string> evidence_name(std::string_view remediation, Clock::Wall now);

struct EvidenceLimits {
  std::size_t files;
  std::uintmax_t bytes;
};

// Removes the oldest files until one more of `size` bytes lies within the limits. Files alone: it
// follows no link and goes into no folder.
void make_room(const std::filesystem::path& folder, std::uintmax_t size,
               const EvidenceLimits& limits);

// Makes the folder, for root alone, and room in it, and writes the file as a whole. The error names
// the path.
[[nodiscard]] Result<std::filesystem::path> save_evidence(const std::filesystem::path& folder,
                                                          const std::string& name,
                                                          std::string_view content,
                                                          const EvidenceLimits& limits);

}  // namespace gpuward::exporter
