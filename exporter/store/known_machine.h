// What is remembered of the machine itself over restarts: how many GPUs and EFA devices it has had,
// how many GPUs its node's labels say that it has, and which NVLinks its GPUs have had. Part of the
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
  std::string boot_id;       // the boot that `active` is of
  std::uint64_t active = 0;  // a bit for each link that has been active in that boot

  bool operator==(const KnownLinks&) const = default;
};

struct KnownMachine {
  // GPUs whose links are remembered; a machine has 16 at most.
  static constexpr std::size_t kMostLinks = 64;

  Machine machine;                          // without a system UUID no count is remembered
  std::string instance_type;                // empty until it is known
  std::string type_boot_id;                 // the boot that it was found out in; empty: configured
  GpuCounts most;                           // that its drivers have listed at once
  GpuCounts labelled;                       // as its node's labels said last
  unsigned efa_devices = 0;                 // the most that its PCI bus has listed at once
  std::map<std::string, KnownLinks> links;  // by the UUID of the GPU

  // Forgets the last machine where `now` is another one. `present`: what the drivers list now.
  void enter(const Machine& now, const GpuCounts& present);
  // Another type than the last is another machine too; empty: it is unknown.
  void learn_type(const std::string& type, const std::string& boot_id, const GpuCounts& present);
  void learn_labelled(const GpuCounts& labels);
  void learn_present(const GpuCounts& present);
  void learn_efa_devices(unsigned on_bus);
  void learn_links(const GpuReport& report, const std::string& boot_id);
  // An operator has cleared the finding of this code: the machine need not have those devices.
  void forget(std::string_view code, const GpuCounts& present);

  // nullptr for a GPU that has had no NVLink here.
  [[nodiscard]] const KnownLinks* links_of(const Gpu& gpu) const;

  bool operator==(const KnownMachine&) const = default;

 private:
  void forget_gpus(const GpuCounts& present);
};

}  // namespace gpuward::exporter
