// `gpuward-exporter nccl-pair`: one of two processes that measure all_reduce over the GPUs of two
// nodes together, so that of several nodes that have failed together the culprit is found. Writes
// nothing but its verdict, on stdout.
#pragma once

#include "exporter/config/flags.h"
#include "exporter/nccl_pair/options.h"

namespace gpuward::exporter {

// `options` has to outlive the command.
CLI::App* add_nccl_pair(CLI::App& app, nccl_pair::Options& options);
void add_nccl_pair_command(CLI::App& app, Commands& commands);

}  // namespace gpuward::exporter
