// `gpuward-exporter gpu-worker`: the process that calls the driver's library. The exporter starts
// it (gpu/worker/worker_loop.h), and --help does not list it.
#pragma once

#include "exporter/config/flags.h"
#include "exporter/gpu/report/library.h"

namespace gpuward::exporter {

// `choice` must outlive the command.
CLI::App* add_gpu_worker(CLI::App& app, GpuChoice& choice);
void add_gpu_worker_command(CLI::App& app, Commands& commands);

}  // namespace gpuward::exporter
