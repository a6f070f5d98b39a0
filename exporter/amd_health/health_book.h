// The state of gpuward-amd-health: the newest line from gpuward-exporter, and the errors that a
// tester has injected. The gRPC services read it. Thread-safe.
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
  std::string id;      // the GPU's index; for another vendor's GPU "nvidia-0"
  std::string uuid;    // empty if unknown
  std::string health;  // "unknown", "healthy", "unhealthy"
  std::string device;  // PCI address, "0000:05:00.0"
  std::vector<std::string> workloads;
  bool operator==(const GpuState&) const = default;
};

// The injected counts by AMD's field, "GPU_ECC_UNCORRECT_UMC".
using Counts = std::map<std::string, std::uint32_t>;

class HealthBook {
 public:
  // Takes a line of exporter/amd_health/feed.h. kInvalid for any other line: the state stays.
  [[nodiscard]] Status take(std::string_view line);

  // kUnavailable, "health status not available", until the GPUs have been read once.
  [[nodiscard]] Result<std::vector<GpuState>> list() const;
  // Returns the GPUs with these ids, in their order; omits unknown ids, as AMD's exporter does.
  [[nodiscard]] Result<std::vector<GpuState>> find(const std::vector<std::string>& ids) const;

  // Injects these counts, in addition to those injected before; 0 removes one. A count over its
  // threshold makes the GPU unhealthy; none makes an unhealthy one healthy. kInvalid for a field
  // without a threshold, kNotFound for an unknown id: then no count is taken.
  [[nodiscard]] Status pretend(const std::string& id, const Counts& counts);

 private:
  [[nodiscard]] GpuState seen(const GpuState& gpu) const;  // with the lock held

  mutable std::mutex mutex_;
  std::optional<std::vector<GpuState>> gpus_;
  std::map<std::string, std::uint64_t> thresholds_;
  std::map<std::string, Counts> pretended_;
};

}  // namespace gpuward::exporter::amd_health
