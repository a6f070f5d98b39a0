// One GPU as gpuward knows it, whatever the vendor. Filled by the inventory (exporter/gpu); metrics
// and findings take their labels from it.
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
  std::string uuid;  // "GPU-…" as NVML prints it; empty where it is not known
  PciAddress pci;
  std::string serial;  // empty where the board has none
  std::string name;    // "NVIDIA H200"
  Vendor vendor = Vendor::kNvidia;

  // Where it is: without it nothing can be said of it that another source could confirm.
  [[nodiscard]] bool has_address() const { return pci != PciAddress{}; }
};

}  // namespace gpuward
