// Reads whole files with a cap, and writes files so that a crash cannot leave half of one. Used for
// configuration, tokens and certificates, and for the exporter's state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/result.h"

namespace gpuward {

// kNotFound, kTooLarge, kForbidden, kUnavailable; the message names the path.
[[nodiscard]] Result<std::string> read_file(const std::filesystem::path& path,
                                            std::size_t max_bytes = 1U << 20U);

// Writes a temporary file in the same folder, then fsync, rename, fsync of the folder. Mode as
// given.
[[nodiscard]] Status write_file_atomically(const std::filesystem::path& path,
                                           std::string_view content, unsigned mode = 0644);

// Whether the content of a file may have changed, also by a mounted ConfigMap's symlink swap:
// compares device, inode, size and mtime of the path's target. It polls, so that it works on every
// filesystem.
class FileWatch {
 public:
  explicit FileWatch(std::filesystem::path path);  // records the file's current state
  // Returns true if the file differs from the last call. A deleted file counts as unchanged until
  // it is back.
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

// Reads files again when one of them has changed, and after a read that failed. Not thread-safe.
class FileReload {
 public:
  // Takes the files as read just now. An empty path stands for no file.
  explicit FileReload(const std::vector<std::string>& files);

  // Calls `read` if a read is due. If the read fails, the next call reads again, because the cause
  // may be a half-written file or a lack of descriptors. Returns the error of a failed read once:
  // while the error stays the same, later calls return success, so that a client that causes many
  // calls cannot fill a log.
  [[nodiscard]] Status reload_if_due(const std::function<Status()>& read);

 private:
  std::vector<FileWatch> watches_;
  bool is_due_ = false;
  std::string reported_;  // the message of the last failed read; empty after a good one
};

}  // namespace gpuward
