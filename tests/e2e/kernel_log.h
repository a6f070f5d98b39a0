// Where the e2e test and the demo write a GPU's last words: the machine's own kernel log, or a FIFO
// that the exporter follows in its place.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "core/model/result.h"

namespace gpuward::e2e {

class KernelLog {
 public:
  // /dev/kmsg where this process may read and write it, else a FIFO named `fallback`.
  [[nodiscard]] static Result<KernelLog> device_or_fifo(const std::filesystem::path& fallback);
  [[nodiscard]] static Result<KernelLog> fifo(const std::filesystem::path& path);

  KernelLog(KernelLog&& other) noexcept;
  KernelLog& operator=(KernelLog&&) = delete;
  ~KernelLog();

  // One line; the newline is added.
  [[nodiscard]] Status write(std::string_view line) const;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] bool is_device() const;

 private:
  KernelLog(std::filesystem::path path, int descriptor);
  std::filesystem::path path_;
  int descriptor_ = -1;
};

// The state that an exporter has saved which has read /dev/kmsg to its present end: lines of
// earlier runs are then history, as on a node where the exporter has been running all along.
[[nodiscard]] Status remember_end_of_device(const std::filesystem::path& state_folder);

}  // namespace gpuward::e2e
