// Several files as one, which every machine can read: a tar (POSIX ustar) in gzip. Pure. Used by
// the command collect-evidence.
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

// All in one folder of this name, which no other file of the reader's machine gets in the way of;
// longer ones are cut at 155 bytes. kTooLarge where zlib has no memory.
[[nodiscard]] Result<std::string> pack(std::string_view folder,
                                       const std::vector<EvidenceFile>& files, Clock::Wall now);

}  // namespace gpuward::exporter
