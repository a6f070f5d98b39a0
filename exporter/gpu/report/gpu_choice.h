// Which GPUs a GPU worker asks: all, all but those whose calls have not come back, or one alone.
// Made by the exporter from what its worker did, read by the vendors' libraries.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/gpu.h"

namespace gpuward::exporter {

// A GPU by whatever is known of it before it is asked: at least one of them.
struct GpuName {
  std::optional<int> nvml_index;
  std::optional<PciAddress> pci;

  bool operator==(const GpuName&) const = default;
};

[[nodiscard]] GpuName name_of(const Gpu& gpu);
// "3@0000:4e:00.0", "3@", "@0000:4e:00.0".
[[nodiscard]] std::string to_text(const GpuName& name);
[[nodiscard]] std::optional<GpuName> parse_gpu_name(std::string_view text);

struct GpuChoice {
  std::vector<GpuName> left_out = {};
  std::optional<GpuName> only = {};

  // Before the first call, and once the GPU has said where it is.
  [[nodiscard]] bool asks_index(int nvml_index) const;
  [[nodiscard]] bool asks_address(const PciAddress& pci) const;
};

}  // namespace gpuward::exporter
