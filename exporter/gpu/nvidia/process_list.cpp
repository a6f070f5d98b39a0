#include "exporter/gpu/nvidia/process_list.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace gpuward::exporter::nvml {
namespace {

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

}  // namespace

std::size_t entry_bytes(std::span<const std::uint8_t> buffer, std::size_t count) {
  constexpr std::array<std::size_t, 3> kKnown{16, sizeof(ProcessInfo), kLargestEntry};
  if (count == 0) return sizeof(ProcessInfo);
  const auto last = std::find_if(buffer.rbegin(), buffer.rend(),
                                 [](std::uint8_t byte) { return byte != kUntouched; });
  const auto written = static_cast<std::size_t>(buffer.rend() - last);
  // A driver that clears the whole buffer tells nothing: then what the documentation says.
  if (written > count * kLargestEntry) return sizeof(ProcessInfo);
  for (const std::size_t bytes : kKnown) {
    if (written > (count - 1) * bytes && written <= count * bytes) return bytes;
  }
  return 0;
}

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

}  // namespace gpuward::exporter::nvml
