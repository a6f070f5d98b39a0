// The simulated machine of the e2e test and the demo: eight GPUs, one at the address of the fault.
#pragma once

#include <cstddef>
#include <string>

namespace gpuward::e2e {

inline constexpr const char* kFallenOffTheBus =
    "NVRM: Xid (PCI:0000:4e:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.";
// The exporter's metric after it has read that line one time.
inline constexpr const char* kFallenOffTheBusMetric =
    "gpuward_xid_errors_total{gpu=\"3\",uuid=\"GPU-00000000-0000-0000-0000-000000000003\","
    "pci_bus_id=\"0000:4e:00\",xid=\"79\"} 1";
// A GPU that cannot be repaired: the driver reports it, and so does its row remapper.
inline constexpr const char* kRowRemapperFailed =
    "NVRM: Xid (PCI:0000:4e:00): 64, pid='<unknown>', name=<unknown>, Row Remapper: failed to "
    "write to the infoROM";
// A program's own fault: severity monitor, never more.
inline constexpr const char* kApplicationFault =
    "NVRM: Xid (PCI:0000:4e:00): 13, pid=4711, name=python3, Graphics Exception: ESR "
    "0x505730=0x101";
inline constexpr const char* kApplicationFaultMetric =
    "gpuward_xid_errors_total{gpu=\"3\",uuid=\"GPU-00000000-0000-0000-0000-000000000003\","
    "pci_bus_id=\"0000:4e:00\",xid=\"13\"} 1";

// `of_the_fourth`: text after the address of the fourth GPU, as ", row_remap_failure: true". Each
// of up to ten `machine`s has its own serial numbers; the UUIDs are those of the metrics above.
[[nodiscard]] inline std::string eight_gpus_yaml(const std::string& of_the_fourth = "",
                                                 std::size_t machine = 0) {
  const char* const buses[] = {"19", "3b", "4c", "4e", "9b", "bb", "cb", "db"};
  std::string text = "gpus:\n";
  for (int i = 0; i < 8; ++i) {
    const std::string digit = std::to_string(i);
    const std::string number = std::to_string(machine) + digit;
    text += "  - {index: " + digit + ", uuid: GPU-00000000-0000-0000-0000-00000000000" + digit +
            ", pci: \"0000:" + buses[i] + ":00.0\", serial: \"16500000000" + number +
            "\", name: NVIDIA H200" + (i == 3 ? of_the_fourth : "") + "}\n";
  }
  return text;
}

}  // namespace gpuward::e2e
