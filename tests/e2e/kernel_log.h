// The kernel log into which the e2e test and the demo write a GPU's fault: the machine's own, or a
// FIFO that the exporter follows instead.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/model/result.h"

namespace gpuward::e2e {

class KernelLog {
 public:
  // Returns `device` if this process may read and write it and no other run does (each would read
  // the other's faults); otherwise a FIFO named `fallback`.
  [[nodiscard]] static Result<KernelLog> device_or_fifo(
      const std::filesystem::path& fallback, const std::filesystem::path& device = "/dev/kmsg");
  [[nodiscard]] static Result<KernelLog> fifo(const std::filesystem::path& path);

  KernelLog(KernelLog&& other) noexcept;
  KernelLog& operator=(KernelLog&&) = delete;
  ~KernelLog();

  // One line; the newline is added.
  [[nodiscard]] Status write(std::string_view line) const;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] bool is_device() const { return kind_ == Kind::kDevice; }

 private:
  enum class Kind : std::uint8_t { kDevice, kFifo };
  KernelLog(Kind kind, std::filesystem::path path, int descriptor);
  Kind kind_;
  std::filesystem::path path_;
  int descriptor_ = -1;
};

// The saved state of an exporter that has read `device` to its present end: lines of earlier runs
// are then old, as on a node where the exporter has run all the time.
[[nodiscard]] Status remember_end_of(const std::filesystem::path& device,
                                     const std::filesystem::path& state_folder);

}  // namespace gpuward::e2e
