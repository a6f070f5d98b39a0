// The evidence on the node, below --state.path: the name of a file, how it is written, and which
// older files are removed for it. Used by the command collect-evidence.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/model/result.h"
#include "core/runtime/clock.h"

namespace gpuward::exporter {

// "gpu-01-ab-1-20261128T020000Z": contains the Remediation's name, at most 230 bytes, different
// each second. kInvalid for a name that no Remediation can have: no path, nothing that leads out of
// a folder.
[[nodiscard]] Result<std::string> evidence_name(std::string_view remediation, Clock::Wall now);

struct EvidenceLimits {
  std::size_t files;
  std::uintmax_t bytes;
};

// Removes the oldest files until one more of `size` bytes is within the limits. Only files: it
// follows no link and enters no folder.
void make_room(const std::filesystem::path& folder, std::uintmax_t size,
               const EvidenceLimits& limits);

// Creates the folder, accessible only for root, makes room in it, and writes the file atomically.
// An error names the path.
[[nodiscard]] Result<std::filesystem::path> save_evidence(const std::filesystem::path& folder,
                                                          const std::string& name,
                                                          std::string_view content,
                                                          const EvidenceLimits& limits);

}  // namespace gpuward::exporter
