#include "exporter/gpu/nvidia/field_values.h"
#include "exporter/gpu/nvidia/process_list.h"
#include "exporter/gpu/nvidia/readings.h"

namespace gpuward::exporter::nvml {
namespace {

constexpr std::uint32_t kMaxMigInstances = 64;  // 7 today

// A MIG instance has a handle of its own; a failure of one says nothing of the GPU.
Maybe<MigInstance> read_instance(const DeviceQuery& query, Device device) {
  DeviceQuery instance(query.symbols(), device, false);
  MigInstance found;
  found.uuid = instance.text(query.symbols().uuid, kUuidBytes);
  const auto gpu_instance = instance.number(query.symbols().gpu_instance);
  const auto compute_instance = instance.number(query.symbols().compute_instance);
  if (found.uuid.empty() || !gpu_instance || !compute_instance) return std::nullopt;
  found.gpu_instance = *gpu_instance;
  found.compute_instance = *compute_instance;
  return found;
}

void read_mig_instances(DeviceQuery& query, GpuReading& reading) {
  const std::uint32_t count = query.number(query.symbols().mig_count).value_or(0);
  for (std::uint32_t i = 0; i < std::min(count, kMaxMigInstances); ++i) {
    Device device = nullptr;
    if (!query.tells(query.symbols().mig_handle, i, &device)) continue;
    if (auto found = read_instance(query, device)) {
      reading.mig_instances.push_back(std::move(*found));
    }
  }
}

}  // namespace

void read_modes(DeviceQuery& query, KnownDevice&, GpuReading& reading) {
  if (const auto action = read_field(query, kFieldRecoveryAction)) {
    reading.recovery_action = static_cast<std::uint32_t>(*action);
  }
  reading.persistence_mode = query.claim(query.symbols().persistence);
  std::uint32_t current = 0, pending = 0;
  if (query.tells(query.symbols().mig_mode, &current, &pending)) {
    reading.mig_enabled = claim_from(current);
  }
  if (reading.mig_enabled.value_or(false)) read_mig_instances(query, reading);
}

void read_processes(DeviceQuery& query, KnownDevice&, GpuReading& reading) {
  reading.processes = list_processes(query);
}

}  // namespace gpuward::exporter::nvml
