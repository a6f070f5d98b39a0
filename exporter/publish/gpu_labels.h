// The labels that name a GPU in a series, from its address. Index and UUID are empty if they are
// unknown. Used by families*.cpp.
#pragma once

#include <map>
#include <string>

#include "core/metrics/family.h"
#include "exporter/store/store.h"

namespace gpuward::exporter {

inline constexpr metrics::LabelNames kGpuLabels = {"gpu", "uuid", "pci_bus_id"};

class GpuLabels {
 public:
  explicit GpuLabels(const Snapshot& snapshot);

  // Returns the values of kGpuLabels.
  [[nodiscard]] metrics::Labels of(const std::string& bus_id) const;
  // Returns the index as text.
  [[nodiscard]] std::string index(const std::string& bus_id) const { return of(bus_id).front(); }

 private:
  struct Names {
    std::string index, uuid;
  };
  std::map<std::string, Names> by_bus_id_;
};

}  // namespace gpuward::exporter
