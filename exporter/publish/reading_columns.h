// Metrics of GPU readings as tables: a row says which value of a reading becomes which series. What
// the driver does not have is no series. Used by families_gpu*.cpp and families_dcgm.cpp.
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
  // Its labels are those behind the labels that name the GPU; where `absent` is empty, the family
  // is absent where the driver does not say. Without a name: one more series of the family above.
  metrics::Declaration family = {};
  std::array<std::string_view, 3> labels = {};  // the values of these labels
  Maybe<double> (*value)(const GpuReading& reading) = nullptr;
};

struct LabelledReading {
  const GpuReading* reading = nullptr;
  metrics::Labels labels;
};

struct LabelledReadings {
  metrics::LabelNames names;  // of the labels that name a GPU
  std::vector<LabelledReading> gpus = {};
};

inline constexpr std::string_view kDriverIsSilent = "when the driver does not report it";

// The GPUs of the newest report that have said where they are, while the worker answers; none while
// it is hung or down, so that nobody takes an old temperature for a new one. The snapshot must
// outlive the answer.
[[nodiscard]] LabelledReadings current_readings(const Snapshot& snapshot);

void append_columns(std::span<const ReadingColumn> columns, const LabelledReadings& readings,
                    Families& families);

// DCGM's blanks of 64 bits begin at 0x7ffffffffffffff0, NVML's are all ones: by numbers this high a
// library says that it has none, and no counter ever gets there.
inline constexpr double kLeastBlank = 9.2e18;

// A whole number, a flag, or a number, as a sample has it; absent where it is absent or a blank.
template <typename T>
[[nodiscard]] Maybe<double> number(const Maybe<T>& value) {
  if (!value || static_cast<double>(*value) >= kLeastBlank) return std::nullopt;
  return static_cast<double>(*value);
}

}  // namespace gpuward::exporter
