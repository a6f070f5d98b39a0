// The GPU worker's side of the pipes: `gpuward-exporter gpu-worker`, started by the exporter alone.
// Whatever the vendors' libraries do, they do it to this process.
#pragma once

#include <span>

#include "exporter/gpu/report/library.h"

namespace gpuward::exporter {

// Answers each request that comes in on `in` with a report on `out`, and sends Xids as they come.
// Returns the exit code once either pipe is closed: 0, or 2 where a request is none. SIGPIPE has to
// be ignored.
[[nodiscard]] int run_gpu_worker(std::span<const LibraryEntry> libraries, const LibraryPaths& paths,
                                 int in, int out);

// The whole process: stdin and stdout become the pipes, what a library prints goes to stderr, and
// the process dies with its parent.
[[nodiscard]] int gpu_worker_main(std::span<const LibraryEntry> libraries,
                                  const LibraryPaths& paths);

}  // namespace gpuward::exporter
