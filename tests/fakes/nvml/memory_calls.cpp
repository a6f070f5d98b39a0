// The calls of the fake libnvidia-ml.so.1 about memory and its health.
#include "tests/fakes/nvml/machine.h"

namespace gpuward::fake_nvml {
namespace {

std::string counter_key(int error_type, int counter_type, const char* place) {
  return std::string("ecc.") + (error_type == 0 ? "corrected." : "uncorrected.") +
         (counter_type == 0 ? "volatile." : "aggregate.") + place;
}

}  // namespace

FAKE_NVML_API int nvmlDeviceGetEccMode(FakeDevice* device, int* current, int* pending) {
  if (const int error = answer_number("nvmlDeviceGetEccMode", device, "ecc.mode", current)) {
    return error;
  }
  *pending = *current;
  fill(device, "ecc.pending", pending);
  return kFakeSuccess;
}

FAKE_NVML_API int nvmlDeviceGetDefaultEccMode(FakeDevice* device, int* mode) {
  return answer_number("nvmlDeviceGetDefaultEccMode", device, "ecc.default", mode);
}

FAKE_NVML_API int nvmlDeviceGetTotalEccErrors(FakeDevice* device, int error_type, int counter_type,
                                              unsigned long long* out) {
  return answer_number("nvmlDeviceGetTotalEccErrors", device,
                       counter_key(error_type, counter_type, "total"), out);
}

FAKE_NVML_API int nvmlDeviceGetMemoryErrorCounter(FakeDevice* device, int error_type,
                                                  int counter_type, int location,
                                                  unsigned long long* out) {
  const char* const place = location == 2 ? "dram" : location == 7 ? "sram" : "elsewhere";
  return answer_number("nvmlDeviceGetMemoryErrorCounter", device,
                       counter_key(error_type, counter_type, place), out);
}

FAKE_NVML_API int nvmlDeviceGetSramEccErrorStatus(FakeDevice* device, FakeSramStatus* status) {
  if (const int error = enter("nvmlDeviceGetSramEccErrorStatus", device, *status, 1)) return error;
  if (const int error = read_number(device, "sram.parity", &status->aggregate_parity)) return error;
  fill(device, "sram.secded", &status->aggregate_secded);
  fill(device, "sram.threshold_exceeded", &status->threshold_exceeded);
  return kFakeSuccess;
}

FAKE_NVML_API int nvmlDeviceGetRetiredPages(FakeDevice* device, int cause, unsigned* count,
                                            unsigned long long* addresses) {
  unsigned pages = 0;
  const char* const key = cause == 0 ? "retired.single_bit" : "retired.double_bit";
  if (const int error = answer_number("nvmlDeviceGetRetiredPages", device, key, &pages)) {
    return error;
  }
  const bool fits = *count >= pages && (addresses != nullptr || pages == 0);
  *count = pages;
  if (!fits) return kFakeInsufficientSize;
  for (unsigned page = 0; page < pages; ++page) addresses[page] = 0x1000ULL * page;
  return kFakeSuccess;
}

FAKE_NVML_API int nvmlDeviceGetRetiredPagesPendingStatus(FakeDevice* device, int* pending) {
  return answer_number("nvmlDeviceGetRetiredPagesPendingStatus", device, "retired.pending",
                       pending);
}

FAKE_NVML_API int nvmlDeviceGetRemappedRows(FakeDevice* device, unsigned* correctable,
                                            unsigned* uncorrectable, unsigned* pending,
                                            unsigned* failure) {
  if (const int error =
          answer_number("nvmlDeviceGetRemappedRows", device, "rows.correctable", correctable)) {
    return error;
  }
  *uncorrectable = *pending = *failure = 0;
  fill(device, "rows.uncorrectable", uncorrectable);
  fill(device, "rows.pending", pending);
  fill(device, "rows.failure", failure);
  return kFakeSuccess;
}

FAKE_NVML_API int nvmlDeviceGetRowRemapperHistogram(FakeDevice* device, FakeHistogram* out) {
  if (const int error =
          answer_number("nvmlDeviceGetRowRemapperHistogram", device, "rows.banks.max", &out->max)) {
    return error;
  }
  out->high = out->partial = out->low = out->none = 0;
  fill(device, "rows.banks.high", &out->high);
  fill(device, "rows.banks.partial", &out->partial);
  fill(device, "rows.banks.low", &out->low);
  fill(device, "rows.banks.none", &out->none);
  return kFakeSuccess;
}

FAKE_NVML_API int nvmlDeviceGetMemoryInfo(FakeDevice* device, FakeMemory* out) {
  if (const int error =
          answer_number("nvmlDeviceGetMemoryInfo", device, "memory.total", &out->total)) {
    return error;
  }
  unsigned long long reserved = 0;
  fill(device, "memory.free", &out->free);
  fill(device, "memory.used", &out->used);
  fill(device, "memory.reserved", &reserved);
  out->used += reserved;
  return kFakeSuccess;
}

FAKE_NVML_API int nvmlDeviceGetMemoryInfo_v2(FakeDevice* device, FakeMemoryV2* out) {
  if (const int error = enter("nvmlDeviceGetMemoryInfo_v2", device, *out, 2)) return error;
  if (const int error = read_number(device, "memory.total", &out->total)) return error;
  fill(device, "memory.reserved", &out->reserved);
  fill(device, "memory.free", &out->free);
  fill(device, "memory.used", &out->used);
  return kFakeSuccess;
}

}  // namespace gpuward::fake_nvml
