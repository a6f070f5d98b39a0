// Compares the series that gpuward publishes for NVIDIA's GPUs with the values of nvidia-smi. Pure:
// the queries and the output are in self_test_command.cpp, the only user.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "exporter/gpu/report/reading.h"

namespace gpuward::exporter {

struct SmiReading {
  std::string fault;  // why there are no values at all; empty if there are
  // By the bus id of the GPU, then by field ("temperature.gpu"), as printed without units.
  std::map<std::string, std::map<std::string, std::string, std::less<>>> gpus;
};

// Returns the compared fields that this nvidia-smi knows, from its output for --help-query-gpu; the
// address of the GPU first.
[[nodiscard]] std::vector<std::string> smi_fields(std::string_view help);
// Parses its lines for --query-gpu=FIELDS --format=csv,noheader,nounits and skips others.
[[nodiscard]] SmiReading parse_smi(const std::vector<std::string>& fields, std::string_view csv);

enum class Agreement : std::uint8_t { kSame, kDiffers, kNotCompared };

struct ComparedValue {
  std::string gpu;        // index; "-" for a GPU that NVML does not list
  std::string value;      // the series without the labels that name the GPU, or an identifier
  std::string nvml, smi;  // "-": none
  Agreement agreement = Agreement::kNotCompared;
  std::string why;  // why it is not compared, differs (if the values do not show it), or is the
                    // same but moving
};

// NVML was read before and after nvidia-smi: a value of nvidia-smi between the two counts as the
// same. Serial numbers and UUIDs are compared as a whole, but only their last four characters are
// shown.
[[nodiscard]] std::vector<ComparedValue> compare_with_smi(const VendorReading& before,
                                                          const SmiReading& smi,
                                                          const VendorReading& after);

}  // namespace gpuward::exporter
