// Converts NVML's raw values into values to publish: numbers and texts that mean "not available"
// become absent. Used by all readers of this folder.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "exporter/gpu/report/reading.h"

namespace gpuward::exporter::nvml {

// Absent for NVML_VALUE_NOT_AVAILABLE (all bits set), and for DCGM's blanks, which other exporters
// have published as numbers (9223372036854775794): from 0x7ffffff0 and 0x7ffffffffffffff0 on.
[[nodiscard]] Maybe<std::uint32_t> number_from(std::uint32_t raw);
[[nodiscard]] Maybe<std::uint64_t> number_from(std::uint64_t raw);
[[nodiscard]] Maybe<double> celsius_from(std::int32_t raw);
[[nodiscard]] Maybe<bool> claim_from(std::uint32_t raw);            // 0 or 1, all else is absent
[[nodiscard]] Maybe<double> ratio_from_percent(std::uint32_t raw);  // 0..100

// Converts thousandths, in which NVML counts power and energy.
[[nodiscard]] Maybe<double> from_thousandths(Maybe<std::uint64_t> raw);

// Up to the first zero byte, valid UTF-8; empty for "N/A", "[Not Supported]" and the like.
[[nodiscard]] std::string text_from(std::span<const char> buffer);

}  // namespace gpuward::exporter::nvml
