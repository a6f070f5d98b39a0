// One RDMA device and its counters from sysfs. Read by exporter/host, published as metrics, judged
// by the EFA checks.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace gpuward::exporter {

// The port of EFA has no meaning, as its driver always reports ACTIVE; so EFA has no port here.
struct RdmaPort {
  std::optional<unsigned> state;       // 1 down, 2 init, 3 armed, 4 active, 5 active deferred
  std::optional<unsigned> phys_state;  // 3 disabled, 5 link up, ...
  std::optional<double> rate_gbits;
  bool operator==(const RdmaPort&) const = default;
};

struct RdmaReading {
  std::string device;      // "rdmap86s0"
  std::string pci_bus_id;  // `0000:56:00`
  bool is_efa = false;
  // By port ("1"; empty for the device itself) and file name: "rx_drops", "retrans_pkts".
  std::map<std::string, std::map<std::string, std::uint64_t>> counters;
  std::map<std::string, RdmaPort> ports;  // by port, "1"
  bool operator==(const RdmaReading&) const = default;
};

}  // namespace gpuward::exporter
