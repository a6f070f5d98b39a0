// The calls of the fake libnvidia-ml.so.1 that concern the library, its versions and its handles.
#include "tests/fakes/nvml/machine.h"

namespace gpuward::fake_nvml {
namespace {

int count_of_gpus() {
  const Value value = value_of("count");
  const auto count = value.error == kFakeSuccess ? to_number(value.text) : std::nullopt;
  return static_cast<int>(count.value_or(0));
}

}  // namespace

FAKE_NVML_API int nvmlInit_v2() {
  if (const int error = enter("nvmlInit_v2", kNoGpu)) return error;
  return initialise();
}

// NVIDIA's Python package calls it; with it the package can use this library too.
FAKE_NVML_API int nvmlInitWithFlags(unsigned) { return nvmlInit_v2(); }

FAKE_NVML_API int nvmlShutdown() {
  if (const int error = enter("nvmlShutdown", kNoGpu)) return error;
  return shut_down();
}

// The same texts as in NVIDIA's library.
FAKE_NVML_API const char* nvmlErrorString(int code) {
  switch (code) {
    case 0:
      return "Success";
    case 1:
      return "Uninitialized";
    case 2:
      return "Invalid Argument";
    case 3:
      return "Not Supported";
    case 4:
      return "Insufficient Permissions";
    case 6:
      return "Not Found";
    case 9:
      return "Driver Not Loaded";
    case 10:
      return "Timeout";
    case 13:
      return "Function Not Found";
    case 15:
      return "GPU is lost";
    case 16:
      return "GPU requires reset";
    case 18:
      return "Driver/library version mismatch";
    case 999:
      return "Unknown Error";
    default:
      return "Unknown Error Code";
  }
}

FAKE_NVML_API int nvmlSystemGetDriverVersion(char* out, unsigned length) {
  if (const int error = enter("nvmlSystemGetDriverVersion", kNoGpu)) return error;
  return copy_text(value_of("driver_version"), out, length);
}

FAKE_NVML_API int nvmlSystemGetNVMLVersion(char* out, unsigned length) {
  if (const int error = enter("nvmlSystemGetNVMLVersion", kNoGpu)) return error;
  return copy_text(value_of("nvml_version"), out, length);
}

FAKE_NVML_API int nvmlDeviceGetCount_v2(unsigned* count) {
  if (const int error = enter("nvmlDeviceGetCount_v2", kNoGpu)) return error;
  *count = static_cast<unsigned>(count_of_gpus());
  return kFakeSuccess;
}

FAKE_NVML_API int nvmlDeviceGetHandleByIndex_v2(unsigned index, FakeDevice** device) {
  if (const int error = enter("nvmlDeviceGetHandleByIndex_v2", static_cast<int>(index)))
    return error;
  if (static_cast<int>(index) >= count_of_gpus() || index >= kMaxGpus) return kFakeInvalidArgument;
  *device = handle_of(static_cast<int>(index));
  return kFakeSuccess;
}

}  // namespace gpuward::fake_nvml
