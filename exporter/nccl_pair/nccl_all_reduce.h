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
  unsigned gpus = 0;                       // the first so many; 0: all
};

// Takes hold of the GPUs: seconds, or for ever where the driver hangs. Any error says nothing of
// the hardware. `clock` must outlive the object, which gives nothing back: a communicator that has
// failed can hang in its own destruction, and the driver takes all back when the process ends, as
// it does then.
[[nodiscard]] Result<std::unique_ptr<AllReduce>> open_nccl(const NcclPlaces& places, Clock& clock);

}  // namespace gpuward::exporter::nccl_pair
