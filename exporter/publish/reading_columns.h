// Metrics of GPU readings as tables: a row maps a value of a reading to a series. A value that the
// driver does not have gives no series. Used by families_gpu*.cpp and families_dcgm.cpp.
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "core/metrics/family.h"
#include "exporter/gpu/report/reading.h"
#include "exporter/publish/families.h"
#include "exporter/publish/gpu_labels.h"

namespace gpuward::exporter {

struct ReadingColumn {
  // Its labels follow the labels that name the GPU. If `absent` is empty, the family is absent when
  // the driver has no value. Without a name: one more series of the family above.
  metrics::Declaration family = {};
  std::array<std::string_view, 3> labels = {};  // the values of these labels
  Maybe<double> (*value)(const GpuReading& reading) = nullptr;
};

struct LabelledReading {
  const GpuReading* reading = nullptr;
  metrics::Labels labels;
};

struct LabelledReadings {
  metrics::LabelNames names;  // the labels that name a GPU
  std::vector<LabelledReading> gpus = {};
};

inline constexpr std::string_view kDriverIsSilent = "when the driver does not report it";

// Returns the GPUs of the newest report that have an address, while the worker answers; none while
// it hangs or is down, so that an old temperature does not look like a new one. The snapshot must
// outlive the result.
[[nodiscard]] LabelledReadings current_readings(const Snapshot& snapshot);

void append_columns(std::span<const ReadingColumn> columns, const LabelledReadings& readings,
                    Families& families);

// DCGM's 64-bit blanks start at 0x7ffffffffffffff0, NVML's are all ones: numbers this high mean
// that the library has no value, and no counter reaches them.
inline constexpr double kLeastBlank = 9.2e18;

// Converts a number or a flag for a sample; absent if the value is absent or blank.
template <typename T>
[[nodiscard]] Maybe<double> number(const Maybe<T>& value) {
  if (!value || static_cast<double>(*value) >= kLeastBlank) return std::nullopt;
  return static_cast<double>(*value);
}

}  // namespace gpuward::exporter
