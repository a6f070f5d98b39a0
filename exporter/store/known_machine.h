// What is remembered of the machine itself over restarts: how many GPUs it has had, and how many
// its node's labels say that it has. Part of the State; kept by the LatchedState.
#pragma once

#include <map>
#include <string>

#include "core/model/gpu.h"
#include "exporter/host/machine.h"

namespace gpuward::exporter {

using GpuCounts = std::map<Vendor, unsigned>;

[[nodiscard]] inline unsigned count_of(const GpuCounts& counts, Vendor vendor) {
  const auto found = counts.find(vendor);
  return found == counts.end() ? 0 : found->second;
}

struct KnownMachine {
  Machine machine;            // without a system UUID nothing is remembered
  std::string instance_type;  // empty while nobody has said it
  GpuCounts most;             // that its drivers have listed at once
  GpuCounts labelled;         // as its node's labels said last

  // Forgets the last machine where `now` is another one. `present`: what the drivers list now.
  void enter(const Machine& now, const GpuCounts& present);
  // Another type than the last is another machine too; empty: nobody knows it.
  void learn_type(const std::string& type, const GpuCounts& present);
  void learn_labelled(const GpuCounts& labels);
  void learn_present(const GpuCounts& present);
  void forget_gpus(const GpuCounts& present);

  bool operator==(const KnownMachine&) const = default;
};

}  // namespace gpuward::exporter
