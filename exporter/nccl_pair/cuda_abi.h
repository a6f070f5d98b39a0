// CUDA's driver interface as far as an all_reduce needs it, declared by hand so that no NVIDIA
// header is needed to build. Facts: cuda.h of CUDA 11 to 13; tests/abi/nccl holds the numbers.
// Included in nccl_all_reduce.cpp only.
#pragma once

#include <cstddef>

#include "exporter/nccl_pair/library_call.h"

namespace gpuward::exporter::nccl_pair::cuda {

struct ContextObject;  // the library's own
struct StreamObject;   // likewise; a CUstream is a cudaStream_t
using Context = ContextObject*;
using Stream = StreamObject*;
using Device = int;                  // CUdevice
using Address = unsigned long long;  // CUdeviceptr

// CUresult.
using ReturnCode = int;
constexpr ReturnCode kSuccess = 0;
constexpr ReturnCode kNotReady = 600;

// CU_STREAM_DEFAULT: what such a stream does comes after what the default stream was given before,
// where memory is set.
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
