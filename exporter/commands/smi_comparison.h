// What gpuward publishes of NVIDIA's GPUs beside what nvidia-smi says of them. Pure: what is asked
// and printed is in self_test_command.cpp, which alone uses it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "exporter/gpu/report/reading.h"

namespace gpuward::exporter {

struct SmiReading {
  std::string fault;  // why it has said nothing at all; empty where it has
  // By the bus id of the GPU, then by field ("temperature.gpu"), as printed without units.
  std::map<std::string, std::map<std::string, std::string, std::less<>>> gpus;
};

// Those of the compared fields that this nvidia-smi knows, by what it prints for --help-query-gpu;
// the address of the GPU first.
[[nodiscard]] std::vector<std::string> smi_fields(std::string_view help);
// Its lines for --query-gpu=FIELDS --format=csv,noheader,nounits; others are left out.
[[nodiscard]] SmiReading parse_smi(const std::vector<std::string>& fields, std::string_view csv);

enum class Agreement : std::uint8_t { kSame, kDiffers, kNotCompared };

struct ComparedValue {
  std::string gpu;        // index; "-" of a GPU that NVML does not list
  std::string value;      // the series without the labels that name the GPU, or what identifies it
  std::string nvml, smi;  // "-": none
  Agreement agreement = Agreement::kNotCompared;
  std::string why;  // not compared; differs, where the values do not show it; the same, but moving
};

// NVML was read before nvidia-smi, and again after it: a value in between has not changed
// meanwhile. Serial numbers and UUIDs are compared whole, and all but their last four characters
// hidden.
[[nodiscard]] std::vector<ComparedValue> compare_with_smi(const VendorReading& before,
                                                          const SmiReading& smi,
                                                          const VendorReading& after);

}  // namespace gpuward::exporter
