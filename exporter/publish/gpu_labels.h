// The labels that name a GPU in a series, from its address: index and UUID are empty where nobody
// knows them. Used by families*.cpp.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "exporter/store/store.h"

namespace gpuward::exporter {

using Labels = std::vector<std::pair<std::string, std::string>>;

class GpuLabels {
 public:
  explicit GpuLabels(const Snapshot& snapshot);

  // {gpu, uuid, pci_bus_id}.
  [[nodiscard]] Labels of(const std::string& bus_id) const;
  // The index as text.
  [[nodiscard]] std::string index(const std::string& bus_id) const;

 private:
  struct Names {
    std::string index, uuid;
  };
  void learn(const Gpu& gpu);

  std::map<std::string, Names> by_bus_id_;
};

[[nodiscard]] inline double to_seconds(WallTime time) {
  return std::chrono::duration<double>(time.time_since_epoch()).count();
}

[[nodiscard]] inline double to_number(bool flag) { return flag ? 1 : 0; }

}  // namespace gpuward::exporter
