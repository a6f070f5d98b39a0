#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "exporter/gpu/nvidia/device_query.h"
#include "exporter/gpu/nvidia/field_values.h"
#include "exporter/gpu/nvidia/readings.h"

namespace gpuward::exporter::nvml {
namespace {

// The compute processes on a GPU. Drivers disagree about the size of an entry under the same
// function name, so the size is measured in the driver's output.

// The fill byte of a process list before the driver writes into it.
constexpr std::uint8_t kUntouched = 0xA5;
constexpr std::size_t kLargestEntry = 32;

constexpr std::uint32_t kMaxProcesses = 4096;
constexpr std::uint32_t kFirstGuess = 64;

const ProcessCall& newest(const Symbols& nvml) {
  if (nvml.processes_v3) return nvml.processes_v3;
  return nvml.processes_v2 ? nvml.processes_v2 : nvml.processes;
}

template <typename T>
T value_at(std::span<const std::uint8_t> entry, std::size_t offset) {
  T value{};
  std::memcpy(&value, entry.data() + offset, sizeof value);
  return value;
}

std::vector<GpuProcess> parse(std::span<const std::uint8_t> buffer, std::size_t count,
                              std::size_t bytes) {
  std::vector<GpuProcess> found;
  for (std::size_t i = 0; i < count; ++i) {
    const auto entry = buffer.subspan(i * bytes, bytes);
    const auto pid = value_at<std::uint32_t>(entry, offsetof(ProcessInfo, pid));
    const auto used = value_at<std::uint64_t>(entry, offsetof(ProcessInfo, used_bytes));
    found.push_back({static_cast<std::int64_t>(pid), number_from(used)});
  }
  return found;
}

// Returns the size of an entry in bytes, from how far the driver has written: 16 (before R450), 24,
// or 32 (R535 before 535.104: github.com/XuehaiPan/nvitop/pull/79). 0 if it has written less than
// `count` entries of any size.
std::size_t entry_bytes(std::span<const std::uint8_t> buffer, std::size_t count) {
  constexpr std::array<std::size_t, 3> kKnown{16, sizeof(ProcessInfo), kLargestEntry};
  if (count == 0) return sizeof(ProcessInfo);
  const auto last = std::find_if(buffer.rbegin(), buffer.rend(),
                                 [](std::uint8_t byte) { return byte != kUntouched; });
  const auto written = static_cast<std::size_t>(buffer.rend() - last);
  // If the driver clears the whole buffer, the size cannot be measured: use the documented one.
  if (written > count * kLargestEntry) return sizeof(ProcessInfo);
  for (const std::size_t bytes : kKnown) {
    if (written > (count - 1) * bytes && written <= count * bytes) return bytes;
  }
  return 0;
}

// Absent if the driver does not list processes.
Maybe<std::vector<GpuProcess>> list_processes(DeviceQuery& query) {
  const ProcessCall& function = newest(query.symbols());
  std::uint32_t room = kFirstGuess;
  while (room <= kMaxProcesses) {
    std::vector<std::uint8_t> buffer(room * kLargestEntry, kUntouched);
    std::uint32_t count = room;
    const ReturnCode code = query.ask(function, &count, buffer.data());
    if (code == kInsufficientSize) {
      room = std::max(room * 2, std::min(count, kMaxProcesses));
      continue;
    }
    if (code != kSuccess || count > room) return std::nullopt;
    const std::size_t bytes = entry_bytes(buffer, count);
    if (bytes == 0) return std::nullopt;
    return parse(buffer, count, bytes);
  }
  return std::nullopt;
}

constexpr std::uint32_t kMaxMigInstances = 64;  // 7 today

// A MIG instance has a separate handle; its failures do not concern the GPU.
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
