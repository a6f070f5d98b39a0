// The part of NCCL's interface that an all_reduce needs, declared by hand. Facts: src/nccl.h.in of
// github.com/NVIDIA/nccl at 021e804; all of it exists since NCCL 2.13. Included in
// nccl_all_reduce.cpp only.
#pragma once

#include <cstddef>

#include "exporter/nccl_pair/cuda_abi.h"

namespace gpuward::exporter::nccl_pair::nccl {

struct CommunicatorObject;  // opaque
using Communicator = CommunicatorObject*;

// ncclResult_t.
using ReturnCode = int;
constexpr ReturnCode kSuccess = 0;
constexpr ReturnCode kInProgress = 7;

constexpr int kFloat = 7;  // ncclFloat32
constexpr int kSum = 0;    // ncclSum

constexpr std::size_t kIdBytes = 128;  // NCCL_UNIQUE_ID_BYTES
struct Id {                            // ncclUniqueId, passed by value
  char internal[kIdBytes];
};

struct Symbols {
  Lookup& lookup;

  LibraryCall<ReturnCode(int*)> version{lookup, "ncclGetVersion"};
  LibraryCall<const char*(ReturnCode)> error_string{lookup, "ncclGetErrorString"};
  LibraryCall<const char*(Communicator)> last_error{lookup, "ncclGetLastError"};
  LibraryCall<ReturnCode(Id*)> make_id{lookup, "ncclGetUniqueId"};
  LibraryCall<ReturnCode()> begin_group{lookup, "ncclGroupStart"};
  LibraryCall<ReturnCode()> end_group{lookup, "ncclGroupEnd"};
  LibraryCall<ReturnCode(Communicator*, int ranks, Id, int rank)> join{lookup, "ncclCommInitRank"};
  LibraryCall<ReturnCode(Communicator, ReturnCode*)> async_error{lookup, "ncclCommGetAsyncError"};
  LibraryCall<ReturnCode(const void* send, void* receive, std::size_t count, int type,
                         int operation, Communicator, cuda::Stream)>
      all_reduce{lookup, "ncclAllReduce"};
};

}  // namespace gpuward::exporter::nccl_pair::nccl
