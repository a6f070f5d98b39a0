// Facts about the machine itself that survive restarts: how many GPUs and EFA devices it has had,
// how many GPUs the labels of its node give, and which NVLinks its GPUs have had. Part of the
// State; kept by the LatchedState.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "core/model/gpu.h"
#include "exporter/gpu/report/reading.h"
#include "exporter/host/machine.h"

namespace gpuward::exporter {

using GpuCounts = std::map<Vendor, unsigned>;

[[nodiscard]] inline unsigned count_of(const GpuCounts& counts, Vendor vendor) {
  const auto found = counts.find(vendor);
  return found == counts.end() ? 0 : found->second;
}

// The NVLinks of one GPU that has had an active one, or was in an NVLink fabric, in this machine.
struct KnownLinks {
  std::string boot_id;       // the boot of `active`
  std::uint64_t active = 0;  // a bit for each link that was active in that boot

  bool operator==(const KnownLinks&) const = default;
};

struct KnownMachine {
  // The most GPUs whose links are remembered; a machine has at most 16.
  static constexpr std::size_t kMostLinks = 64;

  Machine machine;                          // no count is kept without a system UUID
  std::string instance_type;                // empty until known
  std::string type_boot_id;                 // the boot in which it was detected; empty: configured
  GpuCounts most;                           // the most that its drivers have listed at once
  GpuCounts labelled;                       // by the last labels of its node
  unsigned efa_devices = 0;                 // the most that its PCI bus has listed at once
  std::map<std::string, KnownLinks> links;  // by the UUID of the GPU

  // Forgets the last machine if `now` is another one. `present`: what the drivers list now.
  void enter(const Machine& now, const GpuCounts& present);
  // Another type means another machine too; empty: the type is unknown.
  void learn_type(const std::string& type, const std::string& boot_id, const GpuCounts& present);
  void learn_labelled(const GpuCounts& labels);
  void learn_present(const GpuCounts& present);
  void learn_efa_devices(unsigned on_bus);
  void learn_links(const GpuReport& report, const std::string& boot_id);
  // An operator has cleared the finding of this code, so the machine need not have those devices.
  void forget(std::string_view code, const GpuCounts& present);

  // Returns nullptr for a GPU that has had no NVLink here.
  [[nodiscard]] const KnownLinks* links_of(const Gpu& gpu) const;

  bool operator==(const KnownMachine&) const = default;

 private:
  void forget_gpus(const GpuCounts& present);
};

}  // namespace gpuward::exporter
