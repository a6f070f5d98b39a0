// The GPUs that a GPU worker reads: all, all except those that hang, or a single one. The exporter
// derives it from the behaviour of its worker; the vendors' libraries read it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/gpu.h"

namespace gpuward::exporter {

// A GPU by what is known before it is read: at least one of the fields.
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

  // The first works before any call, the second once the GPU has reported its address.
  [[nodiscard]] bool asks_index(int nvml_index) const;
  [[nodiscard]] bool asks_address(const PciAddress& pci) const;
};

}  // namespace gpuward::exporter
