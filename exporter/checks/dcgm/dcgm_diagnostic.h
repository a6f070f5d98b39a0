// What `dcgmi diag -j` has said, of DCGM 3 and 4 alike. Pure: the parser of check 1 and 4, and the
// one place that knows the JSON. What it means is judged in dcgm_faults.
//
// The shapes are those of dcgmi/Diag.cpp in NVIDIA/DCGM v3.3.9 and v4.6.0 and of that tree's
// testing/python3/dcgm_diag_schema.json.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/result.h"

namespace gpuward::exporter {

struct DcgmWarning {
  int error_id = 0;             // dcgm_errors.h; 0 where it has none
  std::optional<int> severity;  // dcgmErrorSeverity_t; absent where it has none (DCGM 2, 3.0)
  std::string text;
  std::optional<int> gpu;  // which GPU it is about; nullopt: the node, or another of its parts
  // Of a result that stands for all GPUs and carries the number of whichever was last (DCGM 3).
  bool is_collective = false;
};

enum class DcgmStatus : std::uint8_t { kPass, kWarn, kFail, kSkip };

// Of one test on one GPU, or on the node as a whole.
struct DcgmResult {
  std::string category;    // "Deployment", "Hardware", "Integration", "Stress"
  std::string test;        // "memory"; DCGM 3 says "GPU Memory"
  std::optional<int> gpu;  // DCGM's number of it
  std::string entity;      // "CPU 0": where it is no GPU
  DcgmStatus status = DcgmStatus::kSkip;
  std::vector<DcgmWarning> warnings;
};

struct DcgmDiagnostic {
  std::string version, driver_version;  // empty where it does not say (DCGM 3)
  std::string runtime_error;            // why nothing, or not all, was run
  std::map<int, std::string> serials;   // of GPUs, by DCGM's number
  std::vector<DcgmResult> results;
  std::vector<std::string> riddles;  // what is there and cannot be understood: "memory: status …"
};

// What dcgmi has written to stdout; text around the JSON does not matter. kNotFound, kInvalid,
// kTooLarge: no report can be read from it, and nobody may take that for a pass. A report without
// results has a runtime_error.
[[nodiscard]] Result<DcgmDiagnostic> parse_dcgm_diagnostic(std::string_view output);

}  // namespace gpuward::exporter
