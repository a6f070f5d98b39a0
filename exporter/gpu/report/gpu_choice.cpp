#include "exporter/gpu/report/gpu_choice.h"

#include <algorithm>

#include "core/runtime/text.h"

namespace gpuward::exporter {
namespace {

bool has_index(const GpuName& name, int index) {
  return name.nvml_index && *name.nvml_index == index;
}

bool has_address(const GpuName& name, const PciAddress& pci) {
  return name.pci && name.pci->same_device(pci);
}

}  // namespace

GpuName name_of(const Gpu& gpu) {
  GpuName name;
  if (gpu.vendor == Vendor::kNvidia && gpu.index >= 0) name.nvml_index = gpu.index;
  if (gpu.has_address()) name.pci = gpu.pci;
  return name;
}

std::string to_text(const GpuName& name) {
  std::string text = name.nvml_index ? std::to_string(*name.nvml_index) : "";
  text += '@';
  return name.pci ? text + name.pci->full() : text;
}

std::optional<GpuName> parse_gpu_name(std::string_view text) {
  const auto at = text.find('@');
  if (at == std::string_view::npos || text.size() == 1) return std::nullopt;
  GpuName name;
  if (at > 0) {
    name.nvml_index = parse_integer<int>(text.substr(0, at));
    if (!name.nvml_index || *name.nvml_index < 0) return std::nullopt;
  }
  if (at + 1 < text.size()) {
    name.pci = parse_pci_address(text.substr(at + 1));
    if (!name.pci) return std::nullopt;
  }
  return name;
}

bool GpuChoice::asks_index(int nvml_index) const {
  if (only && only->nvml_index && *only->nvml_index != nvml_index) return false;
  return std::ranges::none_of(left_out,
                              [&](const GpuName& name) { return has_index(name, nvml_index); });
}

bool GpuChoice::asks_address(const PciAddress& pci) const {
  if (only && only->pci && !only->pci->same_device(pci)) return false;
  return std::ranges::none_of(left_out,
                              [&](const GpuName& name) { return has_address(name, pci); });
}

}  // namespace gpuward::exporter
