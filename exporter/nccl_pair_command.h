// `gpuward-exporter nccl-pair`: one of two processes that measure all_reduce over the GPUs of two
// nodes together, so that of several nodes that have failed together the culprit is found. Writes
// nothing but its verdict, on stdout. Called by main().
#pragma once

#include "exporter/flags.h"

namespace gpuward::exporter {

// Ends the process with 0: the pair passed; 1: it failed; 2: wrong settings; 3: nobody can tell. It
// does not return once it has begun: NCCL and CUDA may still be at work then.
[[nodiscard]] int nccl_pair_command(const Flags& flags);

}  // namespace gpuward::exporter
