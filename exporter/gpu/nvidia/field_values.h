// nvmlDeviceGetFieldValues: numbers for which NVML has no separate function. Used by the readers of
// readings.h.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "exporter/gpu/nvidia/device_query.h"

namespace gpuward::exporter::nvml {

struct FieldKey {
  std::uint32_t field;
  std::uint32_t scope = 0;  // the link, for fields of links
};

// Returns the number in `value` by its type; absent for errors, sentinels, negative numbers and
// unknown types.
[[nodiscard]] Maybe<std::uint64_t> number_in(const FieldValue& value);

// The same for a temperature or a margin, which may be below zero.
[[nodiscard]] Maybe<double> celsius_in(const FieldValue& value);

// Makes one call; returns one result for each key, in order.
[[nodiscard]] std::vector<Maybe<std::uint64_t>> read_fields(DeviceQuery& query,
                                                            std::span<const FieldKey> keys);
[[nodiscard]] std::vector<Maybe<double>> read_celsius_fields(DeviceQuery& query,
                                                             std::span<const FieldKey> keys);
[[nodiscard]] Maybe<std::uint64_t> read_field(DeviceQuery& query, std::uint32_t field);

}  // namespace gpuward::exporter::nvml
