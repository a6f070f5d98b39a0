// Who loads the GPUs of this node with a diagnostic: a lock on a file in the state folder, which
// the exporter, its commands and the Jobs of a quarantine share. Two diagnostics side by side would
// fail each other. The kernel gives it back when its process ends, however that ends. Used by the
// runner and by the check command for the checks that load the GPUs.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "core/model/result.h"

namespace gpuward::exporter {

class GpuLock {
 public:
  // Does not wait. kBlocked: another diagnostic has it, and the message says which. Where there is
  // no such folder, nobody shares one, and the lock holds nothing. Any other error: nobody can
  // tell.
  [[nodiscard]] static Result<GpuLock> take(const std::filesystem::path& state_folder,
                                            const std::string& what);

  GpuLock(GpuLock&& other) noexcept;
  GpuLock& operator=(GpuLock&&) = delete;
  GpuLock(const GpuLock&) = delete;
  GpuLock& operator=(const GpuLock&) = delete;
  ~GpuLock();  // gives it back

 private:
  explicit GpuLock(int file) : file_(file) {}

  int file_;  // -1: holds nothing
};

}  // namespace gpuward::exporter
