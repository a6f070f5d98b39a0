// The calls of the fake libnvidia-ml.so.1 about heat, power, clocks and load.
#include "tests/fakes/nvml/machine.h"

namespace gpuward::fake_nvml {

FAKE_NVML_API int nvmlDeviceGetTemperature(FakeDevice* device, int sensor, unsigned* out) {
  return answer_number("nvmlDeviceGetTemperature", device,
                       sensor == 0 ? "temperature.gpu" : "temperature.elsewhere", out);
}

FAKE_NVML_API int nvmlDeviceGetTemperatureV(FakeDevice* device, FakeTemperature* out) {
  if (const int error = enter("nvmlDeviceGetTemperatureV", device, *out, 1)) return error;
  return read_number(device, "temperature.gpu", &out->celsius);
}

FAKE_NVML_API int nvmlDeviceGetMarginTemperature(FakeDevice* device, FakeMargin* out) {
  if (const int error = enter("nvmlDeviceGetMarginTemperature", device, *out, 1)) return error;
  return read_number(device, "temperature.margin", &out->celsius);
}

FAKE_NVML_API int nvmlDeviceGetTemperatureThreshold(FakeDevice* device, int kind, unsigned* out) {
  const char* key = "temperature.other_threshold";
  if (kind == 0) key = "temperature.shutdown";
  if (kind == 1) key = "temperature.slowdown";
  if (kind == 2) key = "temperature.memory_max";
  return answer_number("nvmlDeviceGetTemperatureThreshold", device, key, out);
}

FAKE_NVML_NUMBER(nvmlDeviceGetPowerUsage, unsigned, "power.usage")
FAKE_NVML_NUMBER(nvmlDeviceGetEnforcedPowerLimit, unsigned, "power.enforced_limit")
FAKE_NVML_NUMBER(nvmlDeviceGetPowerManagementLimit, unsigned, "power.limit")
FAKE_NVML_NUMBER(nvmlDeviceGetPowerManagementDefaultLimit, unsigned, "power.default_limit")
FAKE_NVML_NUMBER(nvmlDeviceGetTotalEnergyConsumption, unsigned long long, "power.energy")
FAKE_NVML_NUMBER(nvmlDeviceGetCurrentClocksEventReasons, unsigned long long, "slowdown.reasons")
FAKE_NVML_NUMBER(nvmlDeviceGetCurrentClocksThrottleReasons, unsigned long long, "slowdown.reasons")

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
