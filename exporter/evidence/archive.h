// Packs several files into one that every machine can read: a tar (POSIX ustar) in gzip. Pure. Used
// by the command collect-evidence.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/model/result.h"
#include "core/runtime/clock.h"

namespace gpuward::exporter {

struct EvidenceFile {
  std::string name;  // at most 100 bytes, without a slash
  std::string content;
};

// Puts all files into one folder of this name, so that unpacking them does not overwrite others; a
// longer name is cut at 155 bytes. kTooLarge if zlib has no memory.
[[nodiscard]] Result<std::string> pack(std::string_view folder,
                                       const std::vector<EvidenceFile>& files, Clock::Wall now);

}  // namespace gpuward::exporter
