// AllReduce by NCCL and CUDA's driver, both loaded at run time: one process with all GPUs of this
// node. Used by the nccl-pair command.
#pragma once

#include <memory>
#include <string>

#include "core/runtime/clock.h"
#include "exporter/nccl_pair/all_reduce.h"

namespace gpuward::exporter::nccl_pair {

struct NcclPlaces {
  std::string nccl_library, cuda_library;  // as dlopen takes them
  unsigned gpus = 0;                       // the first ones; 0: all
};

// Opens the GPUs: takes seconds, or never returns if the driver hangs. An error says nothing about
// the hardware. `clock` must outlive the object, which releases nothing: a failed communicator can
// hang in its destruction, and the driver releases all when the process ends, which follows.
[[nodiscard]] Result<std::unique_ptr<AllReduce>> open_nccl(const NcclPlaces& places, Clock& clock);

}  // namespace gpuward::exporter::nccl_pair
