// A lock on a file in the state folder for diagnostics that load the GPUs of this node. The
// exporter, its commands and the Jobs of a quarantine share it, because two diagnostics at the same
// time would fail each other. The kernel releases it when its process ends in any way. Used by the
// runner and by the check command for the checks that load the GPUs.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "core/model/result.h"

namespace gpuward::exporter {

class GpuLock {
 public:
  // Does not wait. kBlocked: another diagnostic has the lock; the message names it. If the folder
  // does not exist, no process shares one, and the lock is a no-op. Any other error: the state of
  // the lock is unknown.
  [[nodiscard]] static Result<GpuLock> take(const std::filesystem::path& state_folder,
                                            const std::string& what);

  GpuLock(GpuLock&& other) noexcept;
  GpuLock& operator=(GpuLock&&) = delete;
  GpuLock(const GpuLock&) = delete;
  GpuLock& operator=(const GpuLock&) = delete;
  ~GpuLock();  // releases the lock

 private:
  explicit GpuLock(int file) : file_(file) {}

  int file_;  // -1: holds nothing
};

}  // namespace gpuward::exporter
