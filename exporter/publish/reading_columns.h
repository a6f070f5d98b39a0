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

struct FixedLabel {
  std::string_view name, value;  // no name: no label
};

struct ReadingColumn {
  std::string_view name;
  metrics::Type type = metrics::Type::kGauge;
  std::array<FixedLabel, 3> labels;
  Maybe<double> (*value)(const GpuReading& reading);
  std::string_view help = {};  // of the first row of its name; the others may leave it out
};

struct LabelledReading {
  const GpuReading* reading = nullptr;
  Labels labels;
};

// The GPUs of the newest report that have said where they are, while the worker answers; none while
// it is hung or down, so that nobody takes an old temperature for a new one. The snapshot must
// outlive the answer.
[[nodiscard]] std::vector<LabelledReading> current_readings(const Snapshot& snapshot);

// Rows of one name stand together.
void append_columns(std::span<const ReadingColumn> columns,
                    std::span<const LabelledReading> readings, Families& families);

// One sample; none for an absent value and for one that is not finite.
void append_sample(Labels labels, Maybe<double> value, metrics::Family& family);

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
