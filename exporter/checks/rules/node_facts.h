// The host's view of its GPUs without any driver: the second source beside the GPU library. Read
// again before each run of the rules on GPU readings; plain values.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/model/gpu.h"
#include "exporter/host/host_paths.h"
#include "exporter/host/modules.h"
#include "exporter/host/pci.h"
#include "exporter/store/store.h"

namespace gpuward::exporter {

struct PciGpu {
  Vendor vendor = Vendor::kNvidia;
  std::string bus_id;       // `0000:4e:00`
  std::string driver;       // that the GPU is bound to: "nvidia"; empty for none
  bool is_dead = false;     // its configuration space does not answer: it has fallen off the bus
  bool is_display = false;  // calls itself a VGA controller

  // The GPU is passed to a virtual machine, so no driver of this system should report it. A GPU
  // that another display driver has taken (nouveau) does not count.
  [[nodiscard]] bool is_given_away() const {
    return driver == "vfio-pci" || driver == "pci-stub" || driver == "xen-pciback";
  }
};

struct NodeFacts {
  // nullopt: the PCI bus could not be read.
  std::optional<std::vector<PciGpu>> pci_gpus;
  bool has_nvswitch = false;  // on the PCI bus, or managed by a device that is
  std::optional<std::chrono::seconds> since_boot, since_driver_load;

  // Returns nullptr if the bus could not be read or has no such GPU.
  [[nodiscard]] const PciGpu* find(const std::string& bus_id) const {
    if (!pci_gpus) return nullptr;
    for (const PciGpu& gpu : *pci_gpus) {
      if (gpu.bus_id == bus_id) return &gpu;
    }
    return nullptr;
  }
};

class NodeFactsReader {
 public:
  // One thread. Probes a GPU only if the driver has lost it, and reads each ConnectX device once.
  // Both may wait for a device that is being reset, so never call it on a thread that /metrics
  // waits for.
  [[nodiscard]] NodeFacts read(const HostPaths& host, const Snapshot& snapshot, WallTime now);

 private:
  [[nodiscard]] bool is_nvswitch_or_manager(const HostPaths& host, const PciDevice& device);

  // By device and its driver.
  std::map<std::pair<PciAddress, std::string>, bool> nvswitch_managers_;
  DriverAges ages_;
};

}  // namespace gpuward::exporter
