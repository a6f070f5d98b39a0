// GPUs from a scenario file (--gpu.simulate), for tests, the demo and machines without a driver:
//
//   gpus:
//     - {index: 0, uuid: GPU-6f1c…, pci: "0000:4e:00.0", serial: "165", name: NVIDIA H200, vendor:
//     nvidia}
//
// `pci` is required; vendor is nvidia (default) or amd; index defaults to the place in the list.
#pragma once

#include <filesystem>

#include "exporter/gpu/inventory.h"

namespace gpuward::exporter {

class SimulatedInventory final : public Inventory {
 public:
  explicit SimulatedInventory(std::filesystem::path path) : path_(std::move(path)) {}
  // Reads the file anew. kInvalid with file and line where two GPUs share an index, an address or a
  // UUID.
  [[nodiscard]] Result<std::vector<Gpu>> list() override;
  [[nodiscard]] std::string describe() const override { return "simulated by " + path_.string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace gpuward::exporter
