// The metrics of a Prometheus program about itself: process_* from /proc/self, under the names that
// all client libraries use, and gpuward_build_info.
#pragma once

#include <filesystem>

#include "core/metrics/family.h"

namespace gpuward::metrics {

// Adds process_*; a value that cannot be read is left out. `proc` is /proc except in tests.
void append_process(Families& families, const std::filesystem::path& proc = "/proc");

// `gpuward_build_info{version,compiler} 1`.
void append_build_info(Families& families);

}  // namespace gpuward::metrics
