// Whole files, safely: reads with a cap, writes that a crash cannot halve. Used for configuration,
// tokens and certificates, and for the exporter's state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/model/result.h"

namespace gpuward {

// kNotFound, kTooLarge, kForbidden, kUnavailable; the message names the path.
[[nodiscard]] Result<std::string> read_file(const std::filesystem::path& path,
                                            std::size_t max_bytes = 1U << 20U);

// Temporary file in the same folder, fsync, rename, fsync of the folder. Mode as given.
[[nodiscard]] Status write_file_atomically(const std::filesystem::path& path,
                                           std::string_view content, unsigned mode = 0644);

// Whether a file's content may have changed, a mounted ConfigMap's symlink swap included: compares
// device, inode, size and mtime of what the path leads to. Polled, so that it works on every
// filesystem.
class FileWatch {
 public:
  explicit FileWatch(std::filesystem::path path);  // takes the first look
  // True when the file differs from the last look. A file that is gone counts as unchanged until it
  // is back.
  [[nodiscard]] bool changed();
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  struct Stamp {
    std::uint64_t device = 0, inode = 0, size = 0;
    std::int64_t mtime_ns = 0;
    bool operator==(const Stamp&) const = default;
  };
  std::filesystem::path path_;
  Stamp last_;
};

}  // namespace gpuward
