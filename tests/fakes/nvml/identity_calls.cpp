// The calls of the fake libnvidia-ml.so.1 that identify a GPU.
#include <cstdio>

#include "tests/fakes/nvml/machine.h"

namespace gpuward::fake_nvml {

// From `00000000:4E:00.0`, as NVML writes it.
int fill_pci(const Value& address, FakePciInfo* out) {
  if (address.error != kFakeSuccess) return address.error;
  unsigned domain = 0, bus = 0, device = 0;
  if (std::sscanf(address.text.c_str(), "%x:%x:%x", &domain, &bus, &device) != 3) {
    return kFakeNotSupported;
  }
  *out = {};
  out->domain = domain;
  out->bus = bus;
  out->device = device;
  std::snprintf(out->bus_id, sizeof out->bus_id, "%08X:%02X:%02X.0", domain, bus, device);
  std::snprintf(out->bus_id_legacy, sizeof out->bus_id_legacy, "%04X:%02X:%02X.0", domain & 0xFFFFU,
                bus & 0xFFU, device & 0xFFU);
  return kFakeSuccess;
}

FAKE_NVML_API int nvmlDeviceGetPciInfo_v3(FakeDevice* device, FakePciInfo* pci) {
  if (const int error = enter("nvmlDeviceGetPciInfo_v3", device)) return error;
  return fill_pci(value_of(device, "pci"), pci);
}

FAKE_NVML_API int nvmlDeviceGetNvLinkRemotePciInfo_v2(FakeDevice* device, unsigned link,
                                                      FakePciInfo* pci) {
  if (const int error = enter("nvmlDeviceGetNvLinkRemotePciInfo_v2", device)) return error;
  return fill_pci(value_of_link(device, link, "remote"), pci);
}

FAKE_NVML_TEXT(nvmlDeviceGetName, "name")
FAKE_NVML_TEXT(nvmlDeviceGetUUID, "uuid")
FAKE_NVML_TEXT(nvmlDeviceGetSerial, "serial")
FAKE_NVML_TEXT(nvmlDeviceGetVbiosVersion, "vbios")
FAKE_NVML_TEXT(nvmlDeviceGetBoardPartNumber, "part_number")
FAKE_NVML_NUMBER(nvmlDeviceGetMinorNumber, unsigned, "minor")
FAKE_NVML_NUMBER(nvmlDeviceGetArchitecture, unsigned, "architecture")

}  // namespace gpuward::fake_nvml
