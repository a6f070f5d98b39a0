// What every Prometheus program serves about itself: process_* from /proc/self, under the names
// that all client libraries use, and gpuward_build_info.
#pragma once

#include <filesystem>

#include "core/metrics/family.h"

namespace gpuward::metrics {

// process_*; what cannot be read is left out, never a made-up number. `proc` is /proc but in tests.
void append_process(Families& families, const std::filesystem::path& proc = "/proc");

// `gpuward_build_info{version,compiler} 1`.
void append_build_info(Families& families);

}  // namespace gpuward::metrics
