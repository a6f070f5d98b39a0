// The flags of `gpuward-exporter nccl-pair`. The remediator's Job is written against them. Used by
// flags.cpp.
#pragma once

#include "exporter/nccl_pair/options.h"

namespace CLI {
class App;
}

namespace gpuward::exporter {

// The command, which fills `options`.
CLI::App* add_nccl_pair(CLI::App& app, nccl_pair::Options& options);

}  // namespace gpuward::exporter
