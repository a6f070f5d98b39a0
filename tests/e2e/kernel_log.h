// Where the e2e test and the demo write a GPU's last words: the machine's own kernel log, or a FIFO
// that the exporter follows in its place.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/model/result.h"

namespace gpuward::e2e {

class KernelLog {
 public:
  // `device` where this process may read and write it and no other run does, which would read each
  // other's faults; else a FIFO named `fallback`.
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

// The state that an exporter has saved which has read `device` to its present end: lines of earlier
// runs are then history, as on a node where the exporter has been running all along.
[[nodiscard]] Status remember_end_of(const std::filesystem::path& device,
                                     const std::filesystem::path& state_folder);

}  // namespace gpuward::e2e
