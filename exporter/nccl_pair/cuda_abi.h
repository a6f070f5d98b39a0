// The part of CUDA's driver interface that an all_reduce needs, declared by hand so that the build
// needs no NVIDIA header. Facts: cuda.h of CUDA 11 to 13; tests/abi/nccl checks the numbers.
// Included in nccl_all_reduce.cpp only.
#pragma once

#include <cstddef>

#include "exporter/nccl_pair/library_call.h"

namespace gpuward::exporter::nccl_pair::cuda {

struct ContextObject;  // opaque
struct StreamObject;   // opaque; a CUstream is a cudaStream_t
using Context = ContextObject*;
using Stream = StreamObject*;
using Device = int;                  // CUdevice
using Address = unsigned long long;  // CUdeviceptr

// CUresult.
using ReturnCode = int;
constexpr ReturnCode kSuccess = 0;
constexpr ReturnCode kNotReady = 600;

// CU_STREAM_DEFAULT: the stream's work follows earlier work of the default stream, which sets the
// memory.
constexpr unsigned kBlockingStream = 0;

struct Symbols {
  Lookup& lookup;

  LibraryCall<ReturnCode(unsigned flags)> init{lookup, "cuInit"};
  LibraryCall<ReturnCode(ReturnCode, const char**)> error_string{lookup, "cuGetErrorString"};
  LibraryCall<ReturnCode(int*)> count{lookup, "cuDeviceGetCount"};
  LibraryCall<ReturnCode(Device*, int ordinal)> device{lookup, "cuDeviceGet"};
  LibraryCall<ReturnCode(Context*, Device)> retain{lookup, "cuDevicePrimaryCtxRetain"};
  LibraryCall<ReturnCode(Context)> set_current{lookup, "cuCtxSetCurrent"};
  LibraryCall<ReturnCode(std::size_t* free, std::size_t* total)> memory{lookup, "cuMemGetInfo_v2"};
  LibraryCall<ReturnCode(Address*, std::size_t bytes)> allocate{lookup, "cuMemAlloc_v2"};
  LibraryCall<ReturnCode(Address, unsigned value, std::size_t count)> set{lookup, "cuMemsetD32_v2"};
  LibraryCall<ReturnCode(void*, Address, std::size_t bytes)> copy_out{lookup, "cuMemcpyDtoH_v2"};
  LibraryCall<ReturnCode(Stream*, unsigned flags)> make_stream{lookup, "cuStreamCreate"};
  LibraryCall<ReturnCode(Stream)> query_stream{lookup, "cuStreamQuery"};
};

}  // namespace gpuward::exporter::nccl_pair::cuda
