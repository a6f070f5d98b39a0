// One RDMA device and its counters, as sysfs has them. Read by exporter/host, published as metrics.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace gpuward::exporter {

struct RdmaReading {
  std::string device;      // "rdmap86s0"
  std::string pci_bus_id;  // `0000:56:00`
  bool is_efa = false;
  // By port ("1"; empty for the device's own) and name of the file: "rx_drops", "retrans_pkts".
  std::map<std::string, std::map<std::string, std::uint64_t>> counters;
  bool operator==(const RdmaReading&) const = default;
};

}  // namespace gpuward::exporter
