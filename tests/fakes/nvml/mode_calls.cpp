// The calls of the fake libnvidia-ml.so.1 about modes, MIG instances and processes.
#include <cstdint>
#include <sstream>
#include <vector>

#include "tests/fakes/nvml/machine.h"

namespace gpuward::fake_nvml {
namespace {

std::vector<FakeProcessV2> processes_of(const std::string& text) {
  std::vector<FakeProcessV2> processes;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    FakeProcessV2 process{};
    const auto colon = word.find(':');
    process.pid = static_cast<unsigned>(to_number(word.substr(0, colon)).value_or(0));
    if (colon != std::string::npos) {
      process.used_bytes =
          static_cast<unsigned long long>(to_number(word.substr(colon + 1)).value_or(0));
    }
    process.gpu_instance = process.compute_instance = kFakeNoInstance;
    processes.push_back(process);
  }
  return processes;
}

// Writes `entry_bytes` for each process: the size differs between drivers.
int list_processes(const char* function, const FakeDevice* device, unsigned* count, void* out,
                   std::size_t entry_bytes) {
  if (const int error = enter(function, device)) return error;
  const Value value = value_of(device, "processes");
  if (value.error != kFakeSuccess) return value.error;
  const auto processes = processes_of(value.text);
  const bool fits = *count >= processes.size() && (out != nullptr || processes.empty());
  *count = static_cast<unsigned>(processes.size());
  if (!fits) return kFakeInsufficientSize;
  auto* bytes = static_cast<std::uint8_t*>(out);
  for (const FakeProcessV2& process : processes) {
    std::memset(bytes, 0, entry_bytes);
    std::memcpy(bytes, &process, std::min(entry_bytes, sizeof process));
    bytes += entry_bytes;
  }
  return kFakeSuccess;
}

}  // namespace

FAKE_NVML_NUMBER(nvmlDeviceGetPersistenceMode, int, "persistence")

FAKE_NVML_API int nvmlDeviceGetMigMode(FakeDevice* device, unsigned* current, unsigned* pending) {
  if (const int error = answer_number("nvmlDeviceGetMigMode", device, "mig.mode", current)) {
    return error;
  }
  *pending = *current;
  fill(device, "mig.pending", pending);
  return kFakeSuccess;
}

FAKE_NVML_NUMBER(nvmlDeviceGetMaxMigDeviceCount, unsigned, "mig.max")

FAKE_NVML_API int nvmlDeviceGetMigDeviceHandleByIndex(FakeDevice* device, unsigned index,
                                                      FakeDevice** out) {
  if (const int error = enter("nvmlDeviceGetMigDeviceHandleByIndex", device)) return error;
  if (index >= kMaxMig) return kFakeInvalidArgument;
  const Value uuid = value_of(device, "mig." + std::to_string(index) + ".uuid");
  if (uuid.error != kFakeSuccess) return kFakeNotFound;
  *out = mig_handle_of(device->gpu, static_cast<int>(index));
  return kFakeSuccess;
}

FAKE_NVML_NUMBER(nvmlDeviceGetGpuInstanceId, unsigned, "gpu_instance")
FAKE_NVML_NUMBER(nvmlDeviceGetComputeInstanceId, unsigned, "compute_instance")

FAKE_NVML_API int nvmlDeviceGetComputeRunningProcesses(FakeDevice* device, unsigned* count,
                                                       FakeProcessV1* out) {
  return list_processes("nvmlDeviceGetComputeRunningProcesses", device, count, out,
                        sizeof(FakeProcessV1));
}

FAKE_NVML_API int nvmlDeviceGetComputeRunningProcesses_v2(FakeDevice* device, unsigned* count,
                                                          FakeProcessV2* out) {
  return list_processes("nvmlDeviceGetComputeRunningProcesses_v2", device, count, out,
                        sizeof(FakeProcessV2));
}

FAKE_NVML_API int nvmlDeviceGetComputeRunningProcesses_v3(FakeDevice* device, unsigned* count,
                                                          FakeProcessV2* out) {
  std::size_t entry_bytes = sizeof(FakeProcessV2);
  if (device != nullptr) fill(device, "process_entry_bytes", &entry_bytes);
  return list_processes("nvmlDeviceGetComputeRunningProcesses_v3", device, count, out, entry_bytes);
}

}  // namespace gpuward::fake_nvml
