// The calls of the fake libcuda.so.1.
#include <array>
#include <cstring>
#include <vector>

#include "tests/fakes/nccl/device_memory.h"
#include "tests/fakes/nccl/scene.h"
#include "tests/fakes/nccl/streams.h"

struct FakeContext {
  int device;
};
struct FakeStream {
  int device;
};

namespace gpuward::fake_nccl {
namespace {

constexpr int kMostDevices = 64;

thread_local int the_current_device = -1;

FakeContext* context_of(int device) {
  static std::array<FakeContext, kMostDevices> contexts{};
  contexts[static_cast<std::size_t>(device)].device = device;
  return &contexts[static_cast<std::size_t>(device)];
}

FakeStream* stream_of(int device) {
  static std::array<FakeStream, kMostDevices> streams{};
  streams[static_cast<std::size_t>(device)].device = device;
  return &streams[static_cast<std::size_t>(device)];
}

// Like the real library, it does not set addresses of a device other than the current one.
bool is_here(const Place& place, std::size_t count) {
  return place.buffer != nullptr && place.buffer->device() == the_current_device &&
         place.index + count <= place.buffer->values();
}

}  // namespace

int current_device() { return the_current_device; }
int device_of(const FakeStream* stream) { return stream->device; }

}  // namespace gpuward::fake_nccl

using namespace gpuward::fake_nccl;  // NOLINT(google-build-using-namespace): all below is C

#define GPUWARD_FAKE extern "C" __attribute__((visibility("default")))

GPUWARD_FAKE int cuInit(unsigned flags) {
  if (scene().fault == "no-gpu") return kFakeCudaNoDevice;
  return flags == 0 ? kFakeCudaSuccess : kFakeCudaInvalidValue;
}

GPUWARD_FAKE int cuGetErrorString(int code, const char** words) {
  *words = code == kFakeCudaNoDevice      ? "no CUDA-capable device is detected"
           : code == kFakeCudaOutOfMemory ? "out of memory"
                                          : "invalid argument";
  return kFakeCudaSuccess;
}

GPUWARD_FAKE int cuDeviceGetCount(int* count) {
  *count = scene().gpus;
  return kFakeCudaSuccess;
}

GPUWARD_FAKE int cuDeviceGet(int* device, int ordinal) {
  if (ordinal < 0 || ordinal >= scene().gpus) return kFakeCudaInvalidValue;
  *device = ordinal;
  return kFakeCudaSuccess;
}

GPUWARD_FAKE int cuDevicePrimaryCtxRetain(FakeContext** context, int device) {
  *context = context_of(device);
  return kFakeCudaSuccess;
}

GPUWARD_FAKE int cuCtxSetCurrent(FakeContext* context) {
  the_current_device = context->device;
  return kFakeCudaSuccess;
}

GPUWARD_FAKE int cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  *free = free_bytes(current_device());
  *total = scene().free_mib << 20U;
  return kFakeCudaSuccess;
}

GPUWARD_FAKE int cuMemAlloc_v2(unsigned long long* address, std::size_t bytes) {
  *address = allocate(current_device(), bytes);
  return *address == 0 ? kFakeCudaOutOfMemory : kFakeCudaSuccess;
}

GPUWARD_FAKE int cuMemsetD32_v2(unsigned long long address, unsigned value, std::size_t count) {
  const Place place = place_of(address);
  if (!is_here(place, count)) return kFakeCudaInvalidValue;
  place.buffer->set({place.index, place.index + count, value});
  return kFakeCudaSuccess;
}

GPUWARD_FAKE int cuMemcpyDtoH_v2(void* to, unsigned long long address, std::size_t bytes) {
  const Place place = place_of(address);
  const std::size_t count = bytes / sizeof(std::uint32_t);
  if (!is_here(place, count)) return kFakeCudaInvalidValue;
  std::vector<std::uint32_t> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(place.buffer->at(place.index + i));
  std::memcpy(to, values.data(), bytes);
  return kFakeCudaSuccess;
}

GPUWARD_FAKE int cuStreamCreate(FakeStream** stream, unsigned flags) {
  *stream = stream_of(current_device());
  return flags == 0 ? kFakeCudaSuccess : kFakeCudaInvalidValue;
}

GPUWARD_FAKE int cuStreamQuery(FakeStream* stream) {
  return advance(stream) ? kFakeCudaSuccess : kFakeCudaNotReady;
}
