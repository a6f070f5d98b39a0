// What gpuward-amd-health knows: the newest line that gpuward-exporter has sent it, and the errors
// that a tester pretends. Read by the gRPC services. Any thread.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/result.h"

namespace gpuward::exporter::amd_health {

struct GpuState {
  std::string id;      // the GPU's index; of another vendor's GPU "nvidia-0"
  std::string uuid;    // empty where it is not known
  std::string health;  // "unknown", "healthy", "unhealthy"
  std::string device;  // PCI address, "0000:05:00.0"
  std::vector<std::string> workloads;
  bool operator==(const GpuState&) const = default;
};

// Each pretended count by AMD's field, "GPU_ECC_UNCORRECT_UMC".
using Counts = std::map<std::string, std::uint32_t>;

class HealthBook {
 public:
  // A line of exporter/amd_health/feed.h. kInvalid where it is none: what was known stays.
  [[nodiscard]] Status take(std::string_view line);

  // kUnavailable, "health status not available", until the GPUs have been read once.
  [[nodiscard]] Result<std::vector<GpuState>> list() const;
  // Those of these ids, in their order; ids that nobody has are left out, as AMD's exporter does.
  [[nodiscard]] Result<std::vector<GpuState>> find(const std::vector<std::string>& ids) const;

  // Pretends these counts from now on, beside those pretended before; 0 takes one away. A count
  // over its threshold makes the GPU unhealthy; none makes an unhealthy one healthy. kInvalid for a
  // field that has no threshold, kNotFound for an id that nobody has: then none is taken.
  [[nodiscard]] Status pretend(const std::string& id, const Counts& counts);

 private:
  [[nodiscard]] GpuState seen(const GpuState& gpu) const;  // with the lock held

  mutable std::mutex mutex_;
  std::optional<std::vector<GpuState>> gpus_;
  std::map<std::string, std::uint64_t> thresholds_;
  std::map<std::string, Counts> pretended_;
};

}  // namespace gpuward::exporter::amd_health
