// The parts of CUDA's driver interface and of NCCL's that the fake library offers, declared a
// second time and independently: tests/abi/nccl compares both with NVIDIA's headers.
#pragma once

extern "C" {

struct FakeContext;  // CUcontext points to it
struct FakeStream;   // CUstream and cudaStream_t
struct FakeComm;     // ncclComm_t

enum FakeCudaReturn : int {
  kFakeCudaSuccess = 0,
  kFakeCudaInvalidValue = 1,
  kFakeCudaOutOfMemory = 2,
  kFakeCudaNoDevice = 100,
  kFakeCudaNotReady = 600
};

enum FakeNcclReturn : int {
  kFakeNcclSuccess = 0,
  kFakeNcclUnhandledCudaError = 1,
  kFakeNcclSystemError = 2,
  kFakeNcclInvalidArgument = 4,
  kFakeNcclInvalidUsage = 5
};

constexpr int kFakeNcclFloat32 = 7;
constexpr int kFakeNcclSum = 0;

struct FakeNcclId {
  char internal[128];
};
}
