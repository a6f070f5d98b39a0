// How many uncorrectable errors AMD's hardware blocks may have, and how old a fatal error record
// may be: the HealthThresholds of the file that AMD's exporter is configured with
// (/etc/metrics/config.json), so that a fleet keeps it. Parsing is pure. Used by whoever fills
// CheckSettings.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "core/model/result.h"

namespace gpuward::exporter {

struct AmdThresholds {
  // By AMD's field, "GPU_ECC_UNCORRECT_UMC": all nineteen, 0 where the file does not name it.
  std::map<std::string, std::uint64_t> by_field;
  // The same by the blocks of a GpuReading, "umc": for CheckSettings::ras_thresholds.
  std::map<std::string, std::uint64_t> by_block;
  // GPU_CPER_MAX_AGE: for CheckSettings::cper_max_age; 0 where it is "", "0" or not there.
  std::chrono::nanoseconds cper_max_age{0};
  bool operator==(const AmdThresholds&) const = default;
};

// Without any file.
[[nodiscard]] AmdThresholds default_amd_thresholds();

// From `{"GPUConfig": {"HealthThresholds": {"GPU_ECC_UNCORRECT_UMC": 5}}}`; what else AMD's format
// has is left to AMD. kInvalid where it is not JSON, a threshold is no whole number of 32 bits,
// GPU_CPER_MAX_AGE is no duration, or HealthThresholds has a field that AMD's does not have.
[[nodiscard]] Result<AmdThresholds> parse_amd_thresholds(std::string_view text);

}  // namespace gpuward::exporter
