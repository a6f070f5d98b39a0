#include "exporter/store/known_machine.h"

#include <algorithm>

namespace gpuward::exporter {

void KnownMachine::enter(const Machine& now, const GpuCounts& present) {
  if (machine == now) return;
  *this = {};
  machine = now;
  forget_gpus(present);
}

void KnownMachine::learn_type(const std::string& type, const GpuCounts& present) {
  if (type.empty() || instance_type == type) return;
  const bool is_another = !instance_type.empty();
  instance_type = type;
  if (is_another) forget_gpus(present);
}

void KnownMachine::learn_labelled(const GpuCounts& labels) {
  if (!machine.system_uuid.empty()) labelled = labels;
}

void KnownMachine::learn_present(const GpuCounts& present) {
  if (machine.system_uuid.empty()) return;
  for (const auto& [vendor, count] : present) {
    unsigned& known = most[vendor];
    known = std::max(known, count);
  }
}

void KnownMachine::forget_gpus(const GpuCounts& present) {
  most.clear();
  labelled.clear();
  learn_present(present);
}

}  // namespace gpuward::exporter
