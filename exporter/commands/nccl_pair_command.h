// `gpuward-exporter nccl-pair`: one of two processes that measure all_reduce over the GPUs of two
// nodes, to find the culprit among several nodes that have failed together. Prints only its
// verdict, on stdout.
#pragma once

#include "exporter/config/flags.h"
#include "exporter/nccl_pair/options.h"

namespace gpuward::exporter {

// `options` must outlive the command.
CLI::App* add_nccl_pair(CLI::App& app, nccl_pair::Options& options);
void add_nccl_pair_command(CLI::App& app, Commands& commands);

}  // namespace gpuward::exporter
