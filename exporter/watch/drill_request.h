// The request of `gpuward-exporter inject` to the running exporter, as a file of the state folder
// (store/request_folder.h), and its finding: made by the same parser, catalogue and rules as a real
// one, from a simulated line or reading. Pure except for the files.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/model/result.h"
#include "exporter/config/settings.h"
#include "exporter/store/store.h"

namespace gpuward::exporter {

enum class DrillKind : std::uint8_t { kXid, kEcc, kGpuLost, kEnd };

[[nodiscard]] std::string_view to_string(DrillKind kind);  // "xid", "ecc", "gpu-lost", "end"

inline constexpr std::chrono::seconds kShortestDrill{60};
inline constexpr std::chrono::seconds kLongestDrill{3600};

struct DrillRequest {
  DrillKind kind = DrillKind::kXid;
  std::uint64_t number = 0;  // kXid: the code; kEcc: the number of uncorrected errors
  std::string gpu;           // the driver's index or the PCI address; kEnd: empty for all GPUs
  std::chrono::seconds lasts{600};

  friend bool operator==(const DrillRequest&, const DrillRequest&) = default;
};

[[nodiscard]] std::string to_json(const DrillRequest& request);
// kInvalid if a value is out of its range.
[[nodiscard]] Result<DrillRequest> parse_drill_request(std::string_view text);

// Returns the GPU of the inventory with that name; kNotFound lists the names.
[[nodiscard]] Result<Gpu> named_gpu(const std::vector<Gpu>& gpus, const std::string& name);

// Returns the finding that such a fault of this GPU would give. kInvalid if it would give none.
[[nodiscard]] Result<Finding> injected_finding(const DrillRequest& request, const Gpu& gpu,
                                               const Snapshot& snapshot, const Policy& policy,
                                               WallTime now);

// Returns the folder for requests of drills.
[[nodiscard]] std::filesystem::path drill_folder(const std::filesystem::path& state_folder);

}  // namespace gpuward::exporter
