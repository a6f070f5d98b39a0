#include "exporter/store/known_machine.h"

#include <algorithm>

namespace gpuward::exporter {
namespace {

// Forgets boards that were removed.
void forget_absent(const VendorReading& present, std::map<std::string, KnownLinks>& links) {
  std::erase_if(links, [&](const auto& entry) {
    return std::ranges::none_of(
        present.gpus, [&](const GpuReading& reading) { return reading.gpu.uuid == entry.first; });
  });
}

std::uint64_t active_links(const GpuReading& reading) {
  std::uint64_t active = 0;
  for (const Link& link : reading.links) {
    if (link.active.value_or(false) && link.number < 64) active |= 1ULL << link.number;
  }
  return active;
}

}  // namespace

void KnownMachine::enter(const Machine& now, const GpuCounts& present) {
  if (machine == now) return;
  *this = {};
  machine = now;
  forget_gpus(present);
}

void KnownMachine::learn_type(const std::string& type, const std::string& boot_id,
                              const GpuCounts& present) {
  if (type.empty()) return;
  type_boot_id = boot_id;
  if (instance_type == type) return;
  const bool is_another = !instance_type.empty();
  instance_type = type;
  if (!is_another) return;
  forget_gpus(present);
  efa_devices = 0;
  links.clear();
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

void KnownMachine::learn_efa_devices(unsigned on_bus) {
  if (!machine.system_uuid.empty()) efa_devices = std::max(efa_devices, on_bus);
}

// A GPU is identified by its UUID, not by the machine.
void KnownMachine::learn_links(const GpuReport& report, const std::string& boot_id) {
  const VendorReading* const nvidia = report.find(Vendor::kNvidia);
  if (nvidia == nullptr || boot_id.empty()) return;
  for (const GpuReading& reading : nvidia->gpus) {
    const std::uint64_t active = active_links(reading);
    const bool has_nvlink = active != 0 || reading.fabric.state == kFabricCompleted;
    if (!has_nvlink || reading.gpu.uuid.empty()) continue;
    auto known = links.find(reading.gpu.uuid);
    if (known == links.end()) {
      if (links.size() >= kMostLinks) forget_absent(*nvidia, links);
      known = links.emplace(reading.gpu.uuid, KnownLinks{}).first;
    }
    KnownLinks& of_gpu = known->second;
    of_gpu.active = (of_gpu.boot_id == boot_id ? of_gpu.active : 0) | active;
    of_gpu.boot_id = boot_id;
  }
}

const KnownLinks* KnownMachine::links_of(const Gpu& gpu) const {
  const auto known = links.find(gpu.uuid);
  return gpu.uuid.empty() || known == links.end() ? nullptr : &known->second;
}

// The codes are those of checks/check/finding_codes.h, which this file cannot include, because the
// checks depend on the store.
void KnownMachine::forget(std::string_view code, const GpuCounts& present) {
  if (code.starts_with("gpu_missing")) forget_gpus(present);
  if (code == "efa_count" || code.starts_with("efa_absent")) efa_devices = 0;
  if (code.starts_with("nvlink_") || code.starts_with("fabric_")) links.clear();
}

void KnownMachine::forget_gpus(const GpuCounts& present) {
  most.clear();
  labelled.clear();
  learn_present(present);
}

}  // namespace gpuward::exporter
