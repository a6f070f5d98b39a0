// The GPU worker's side of the pipes: `gpuward-exporter gpu-worker`, started by the exporter alone.
// Whatever the vendors' libraries do, they do it to this process.
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

  // Sends Xids on `out` from now on. SIGPIPE has to be ignored.
  GpuWorker(std::span<const LibraryEntry> libraries, const LibraryPaths& paths, int in, int out);
  ~GpuWorker();  // waits for the listeners: up to five seconds where the drivers answer
  GpuWorker(const GpuWorker&) = delete;
  GpuWorker& operator=(const GpuWorker&) = delete;

  // Answers each request that comes in on `in` with a report on `out`. Returns the exit code once
  // either pipe is closed: 0, or 2 where a request is none.
  [[nodiscard]] int run();

 private:
  int in_;
  std::unique_ptr<Outlet> outlet_;
  std::vector<std::unique_ptr<GpuLibrary>> libraries_;
  std::vector<std::jthread> listeners_;
};

// The whole process: stdin and stdout become the pipes, what a library prints goes to stderr, and
// the process dies with its parent. Ends it.
[[noreturn]] void gpu_worker_main(std::span<const LibraryEntry> libraries,
                                  const LibraryPaths& paths);

}  // namespace gpuward::exporter
