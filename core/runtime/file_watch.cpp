#include "core/runtime/file_watch.h"

#include <sys/stat.h>

#include <utility>

namespace gpuward {

FileWatch::FileWatch(std::filesystem::path path) : path_(std::move(path)) {
  static_cast<void>(changed());
}

bool FileWatch::changed() {
  struct stat about{};
  if (::stat(path_.c_str(), &about) != 0)
    return false;  // gone: perhaps between two steps of a swap
  const Stamp now{.device = about.st_dev,
                  .inode = about.st_ino,
                  .size = static_cast<std::uint64_t>(about.st_size),
                  .mtime_ns = about.st_mtim.tv_sec * 1'000'000'000 + about.st_mtim.tv_nsec};
  if (now == last_) return false;
  last_ = now;
  return true;
}

}  // namespace gpuward
