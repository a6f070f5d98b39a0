// How many uncorrectable errors AMD's hardware blocks may have, and how old a fatal error record
// may be: the HealthThresholds of the configuration file of AMD's exporter
// (/etc/metrics/config.json), so that a fleet can keep that file. Parsing is pure. Used by the code
// that fills CheckSettings.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "core/model/result.h"

namespace gpuward::exporter {

struct AmdThresholds {
  // By AMD's field, "GPU_ECC_UNCORRECT_UMC": all nineteen, 0 if the file does not have the field.
  std::map<std::string, std::uint64_t> by_field;
  // The same by the blocks of a GpuReading, "umc": for CheckSettings::ras_thresholds.
  std::map<std::string, std::uint64_t> by_block;
  // GPU_CPER_MAX_AGE: for CheckSettings::cper_max_age; 0 if it is "", "0" or missing.
  std::chrono::nanoseconds cper_max_age{0};
  bool operator==(const AmdThresholds&) const = default;
};

// Returns the values that apply without a file.
[[nodiscard]] AmdThresholds default_amd_thresholds();

// Reads `{"GPUConfig": {"HealthThresholds": {"GPU_ECC_UNCORRECT_UMC": 5}}}` and ignores the rest of
// AMD's format. kInvalid if it is not JSON, a threshold is not a whole number of 32 bits,
// GPU_CPER_MAX_AGE is not a duration, or HealthThresholds has a field that AMD's does not have.
[[nodiscard]] Result<AmdThresholds> parse_amd_thresholds(std::string_view text);

}  // namespace gpuward::exporter
