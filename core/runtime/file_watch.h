// Tells when a file's content may have changed, a mounted ConfigMap's symlink swap included: it
// compares device, inode, size and mtime of what the path leads to. Polled, so that it works on
// every filesystem.
#pragma once

#include <cstdint>
#include <filesystem>

namespace gpuward {

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
