// One GPU of any vendor. The inventory (exporter/gpu) fills it; metrics and findings take their
// labels from it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/model/pci_address.h"

namespace gpuward {

enum class Vendor : std::uint8_t { kNvidia, kAmd };

// "nvidia", "amd".
[[nodiscard]] constexpr std::string_view to_string(Vendor vendor) {
  return vendor == Vendor::kNvidia ? "nvidia" : "amd";
}

struct Gpu {
  int index = 0;     // the driver's own number, 0 and up
  std::string uuid;  // "GPU-…" as NVML prints it; empty if unknown
  PciAddress pci;
  std::string serial;  // empty if the board has none
  std::string name;    // "NVIDIA H200"
  Vendor vendor = Vendor::kNvidia;

  // Without an address no second source can confirm a report about the GPU.
  [[nodiscard]] bool has_address() const { return pci != PciAddress{}; }
};

}  // namespace gpuward
