#include <limits>

#include "exporter/gpu/nvidia/pci_text.h"
#include "exporter/gpu/nvidia/readings.h"

namespace gpuward::exporter::nvml {

std::optional<PciAddress> address_from(const PciInfo& info) {
  constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  if (info.domain == kNone || info.bus > 0xFF || info.device > 0xFF) return std::nullopt;
  // A GPU is function 0; a virtual one has a device number beyond 0x1f (model/pci_address.h).
  return PciAddress{info.domain, static_cast<std::uint8_t>(info.bus),
                    static_cast<std::uint8_t>(info.device), 0};
}

void read_identity(DeviceQuery& query, const KnownDevice& known, GpuReading& reading) {
  const Symbols& nvml = query.symbols();
  PciInfo info{};
  if (query.tells(nvml.pci, &info)) reading.gpu.pci = address_from(info).value_or(PciAddress{});
  reading.gpu.uuid = query.text(nvml.uuid, kUuidBytes);
  if (!query.is_thorough() && known.rare) {
    reading.gpu.serial = known.rare->gpu.serial;
    reading.gpu.name = known.rare->gpu.name;
    reading.vbios_version = known.rare->vbios_version;
    reading.part_number = known.rare->part_number;
    reading.minor_number = known.rare->minor_number;
    reading.architecture = known.rare->architecture;
    return;
  }
  reading.gpu.serial = query.text(nvml.serial, kSerialBytes);
  reading.gpu.name = query.text(nvml.name, kNameBytes);
  reading.vbios_version = query.text(nvml.vbios, kVbiosBytes);
  reading.part_number = query.text(nvml.part_number, kPartNumberBytes);
  reading.minor_number = query.number(nvml.minor);
  reading.architecture = query.number(nvml.architecture);
}

}  // namespace gpuward::exporter::nvml
