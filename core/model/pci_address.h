// The address of a GPU or an NVSwitch on the PCI bus. The kernel log, NVML and sysfs write the same
// address in different ways (`4E:00.0`, `00000000:4E:00.0`, `0000:4e:00`); inside gpuward there is
// only this one.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gpuward {

struct PciAddress {
  std::uint32_t domain = 0;
  std::uint8_t bus = 0;
  std::uint8_t device = 0;
  // Absent if the source does not name one (Xid lines); a GPU is function 0.
  std::optional<std::uint8_t> function;

  // `0000:4e:00`: the key of a device in metrics, findings and the inventory.
  [[nodiscard]] std::string bus_id() const;
  // `0000:4e:00.0`, or bus_id() if the function is unknown.
  [[nodiscard]] std::string full() const;
  // Whether both name the same device; the function does not matter.
  [[nodiscard]] bool same_device(const PciAddress& other) const {
    return domain == other.domain && bus == other.bus && device == other.device;
  }

  friend auto operator<=>(const PciAddress&, const PciAddress&) = default;
};

// Reads `[domain:]bus:device[.function]` in hexadecimal, with a domain of 4 to 8 digits (0 if it is
// left out); nullopt for anything else. Accepts device numbers above 0x1f, which virtual GPUs have.
[[nodiscard]] std::optional<PciAddress> parse_pci_address(std::string_view text);

}  // namespace gpuward
