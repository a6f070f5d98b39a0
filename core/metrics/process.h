// What every Prometheus program says of itself: process_* from /proc/self, under the names that all
// client libraries use, and <program>_build_info.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/metrics/family.h"

namespace gpuward::metrics {

// Appends process_*; what cannot be read is left out, never a made-up number. `proc` is /proc but
// in tests.
void append_process(std::vector<Family>& families, const std::filesystem::path& proc = "/proc");

// `gpuward_build_info{version,compiler} 1`.
[[nodiscard]] Family build_info();

[[nodiscard]] Family gauge(std::string name, std::string help, double value);
[[nodiscard]] Family counter(std::string name, std::string help, double value);

}  // namespace gpuward::metrics
