// The GPU worker's side of the pipes: `gpuward-exporter gpu-worker`, which only the exporter
// starts. Faults of the vendors' libraries affect only this process.
#pragma once

#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "exporter/gpu/report/library.h"

namespace gpuward::exporter {

class GpuWorker {
 public:
  class Outlet;

  // Sends Xids on `out` from now on. SIGPIPE must be ignored.
  GpuWorker(std::span<const LibraryEntry> libraries, const LibraryPaths& paths, int in, int out);
  ~GpuWorker();  // waits for the listeners: up to five seconds if the drivers respond
  GpuWorker(const GpuWorker&) = delete;
  GpuWorker& operator=(const GpuWorker&) = delete;

  // Responds to each request on `in` with a report on `out`. Returns the exit code once either pipe
  // is closed: 0, or 2 after an invalid request.
  [[nodiscard]] int run();

 private:
  int in_;
  std::unique_ptr<Outlet> outlet_;
  std::vector<std::unique_ptr<GpuLibrary>> libraries_;
  std::vector<std::jthread> listeners_;
};

// Runs the whole process and ends it: stdin and stdout become the pipes, output of a library goes
// to stderr, and the process dies with its parent.
[[noreturn]] void gpu_worker_main(std::span<const LibraryEntry> libraries,
                                  const LibraryPaths& paths);

}  // namespace gpuward::exporter
