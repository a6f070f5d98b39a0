// Which GPUs the compute driver (KFD) offers to programs: a GPU that amdgpu has and KFD lacks runs
// no ROCm program. Read once a report. Used by SysfsLibrary.
#pragma once

#include <filesystem>
#include <optional>
#include <set>

#include "core/model/pci_address.h"
#include "exporter/gpu/report/reading.h"

namespace gpuward::exporter::amd {

struct KfdGpus {
  std::set<PciAddress> gpus;
  // False where there is no KFD, or some node may not be read (a container without that GPU).
  bool is_complete = false;

  [[nodiscard]] Maybe<bool> has(const PciAddress& address) const;
};

[[nodiscard]] KfdGpus read_kfd(const std::filesystem::path& sys);

}  // namespace gpuward::exporter::amd
