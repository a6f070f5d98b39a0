#include "exporter/publish/gpu_labels.h"

namespace gpuward::exporter {

GpuLabels::GpuLabels(const Snapshot& snapshot) {
  for (const auto& [bus_id, uuid] : snapshot.state.uuids) by_bus_id_[bus_id].uuid = uuid;
  for (const Gpu& gpu : snapshot.gpus) {
    Names& names = by_bus_id_[gpu.pci.bus_id()];
    names.index = std::to_string(gpu.index);
    if (!gpu.uuid.empty()) names.uuid = gpu.uuid;
  }
}

metrics::Labels GpuLabels::of(const std::string& bus_id) const {
  const auto found = by_bus_id_.find(bus_id);
  const Names names = found == by_bus_id_.end() ? Names{} : found->second;
  return {names.index, names.uuid, bus_id};
}

}  // namespace gpuward::exporter
