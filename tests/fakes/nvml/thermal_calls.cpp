// The calls of the fake libnvidia-ml.so.1 about heat, power, clocks and load.
#include "tests/fakes/nvml/machine.h"

namespace gpuward::fake_nvml {

FAKE_NVML_API int nvmlDeviceGetTemperature(FakeDevice* device, int sensor, unsigned* out) {
  return answer_number("nvmlDeviceGetTemperature", device,
                       sensor == 0 ? "temperature.gpu" : "temperature.elsewhere", out);
}

FAKE_NVML_API int nvmlDeviceGetTemperatureV(FakeDevice* device, FakeTemperature* out) {
  if (const int error = enter("nvmlDeviceGetTemperatureV", device)) return error;
  if (out->version != (sizeof(FakeTemperature) | (1U << 24U))) return kFakeVersionMismatch;
  long long celsius = 0;
  if (const int error = number_of(device, "temperature.gpu", &celsius)) return error;
  out->celsius = static_cast<int>(celsius);
  return kFakeSuccess;
}

FAKE_NVML_API int nvmlDeviceGetMarginTemperature(FakeDevice* device, FakeMargin* out) {
  if (const int error = enter("nvmlDeviceGetMarginTemperature", device)) return error;
  if (out->version != (sizeof(FakeMargin) | (1U << 24U))) return kFakeVersionMismatch;
  long long celsius = 0;
  if (const int error = number_of(device, "temperature.margin", &celsius)) return error;
  out->celsius = static_cast<int>(celsius);
  return kFakeSuccess;
}

FAKE_NVML_API int nvmlDeviceGetTemperatureThreshold(FakeDevice* device, int kind, unsigned* out) {
  const char* key = "temperature.other_threshold";
  if (kind == 0) key = "temperature.shutdown";
  if (kind == 1) key = "temperature.slowdown";
  if (kind == 2) key = "temperature.memory_max";
  return answer_number("nvmlDeviceGetTemperatureThreshold", device, key, out);
}

FAKE_NVML_API int nvmlDeviceGetPowerUsage(FakeDevice* device, unsigned* out) {
  return answer_number("nvmlDeviceGetPowerUsage", device, "power.usage", out);
}

FAKE_NVML_API int nvmlDeviceGetEnforcedPowerLimit(FakeDevice* device, unsigned* out) {
  return answer_number("nvmlDeviceGetEnforcedPowerLimit", device, "power.enforced_limit", out);
}

FAKE_NVML_API int nvmlDeviceGetPowerManagementLimit(FakeDevice* device, unsigned* out) {
  return answer_number("nvmlDeviceGetPowerManagementLimit", device, "power.limit", out);
}

FAKE_NVML_API int nvmlDeviceGetPowerManagementDefaultLimit(FakeDevice* device, unsigned* out) {
  return answer_number("nvmlDeviceGetPowerManagementDefaultLimit", device, "power.default_limit",
                       out);
}

FAKE_NVML_API int nvmlDeviceGetTotalEnergyConsumption(FakeDevice* device, unsigned long long* out) {
  return answer_number("nvmlDeviceGetTotalEnergyConsumption", device, "power.energy", out);
}

FAKE_NVML_API int nvmlDeviceGetCurrentClocksEventReasons(FakeDevice* device,
                                                         unsigned long long* out) {
  return answer_number("nvmlDeviceGetCurrentClocksEventReasons", device, "slowdown.reasons", out);
}

FAKE_NVML_API int nvmlDeviceGetCurrentClocksThrottleReasons(FakeDevice* device,
                                                            unsigned long long* out) {
  return answer_number("nvmlDeviceGetCurrentClocksThrottleReasons", device, "slowdown.reasons",
                       out);
}

FAKE_NVML_API int nvmlDeviceGetViolationStatus(FakeDevice* device, int policy, FakeViolation* out) {
  const char* key = "slowdown.other";
  if (policy == 0) key = "slowdown.power";
  if (policy == 1) key = "slowdown.thermal";
  return answer_number("nvmlDeviceGetViolationStatus", device, key, &out->violation_time);
}

FAKE_NVML_API int nvmlDeviceGetClockInfo(FakeDevice* device, int kind, unsigned* out) {
  const char* key = "clock.other";
  if (kind == 1) key = "clock.sm";
  if (kind == 2) key = "clock.memory";
  return answer_number("nvmlDeviceGetClockInfo", device, key, out);
}

FAKE_NVML_API int nvmlDeviceGetUtilizationRates(FakeDevice* device, FakeUtilization* out) {
  if (const int error =
          answer_number("nvmlDeviceGetUtilizationRates", device, "utilization.gpu", &out->gpu)) {
    return error;
  }
  out->memory = 0;
  fill(device, "utilization.memory", &out->memory);
  return kFakeSuccess;
}

}  // namespace gpuward::fake_nvml
