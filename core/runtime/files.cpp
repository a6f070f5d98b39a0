#include "core/runtime/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "core/runtime/descriptor.h"

namespace gpuward {
namespace {

ErrorKind kind_of(int code) {
  switch (code) {
    case ENOENT:
    case ENOTDIR:
      return ErrorKind::kNotFound;
    case EACCES:
    case EPERM:
    case EROFS:
      return ErrorKind::kForbidden;
    case EISDIR:
    case ELOOP:
    case ENAMETOOLONG:
      return ErrorKind::kInvalid;
  }
  return ErrorKind::kUnavailable;
}

std::unexpected<Error> system_failure(const std::string& attempted,
                                      const std::filesystem::path& path, int code) {
  return fail(kind_of(code),
              attempted + " " + path.string() + ": " + std::generic_category().message(code));
}

// A FIFO would block until its writer writes; a folder has no bytes.
Status check_readable_kind(int descriptor, const std::filesystem::path& path) {
  struct stat about{};
  if (::fstat(descriptor, &about) != 0) return system_failure("cannot stat", path, errno);
  if (S_ISREG(about.st_mode) || S_ISCHR(about.st_mode)) return {};
  return fail(ErrorKind::kInvalid, "cannot read " + path.string() + ": not a regular file");
}

Status write_all(int descriptor, std::string_view content, const std::filesystem::path& path) {
  while (!content.empty()) {
    const ssize_t written = ::write(descriptor, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return system_failure("cannot write", path, errno);
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

Status fill(Descriptor& file, const std::filesystem::path& path, std::string_view content,
            unsigned mode) {
  if (::fchmod(file.get(), static_cast<mode_t>(mode)) != 0)
    return system_failure("cannot set the mode of", path, errno);
  if (auto status = write_all(file.get(), content, path); !status) return status;
  if (::fsync(file.get()) != 0) return system_failure("cannot flush", path, errno);
  if (!file.close_now()) return system_failure("cannot close", path, errno);
  return {};
}

Status flush_folder(const std::filesystem::path& folder) {
  const Descriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!descriptor.is_open() || ::fsync(descriptor.get()) != 0)
    return system_failure("cannot flush", folder, errno);
  return {};
}

}  // namespace

Result<std::string> read_file(const std::filesystem::path& path, std::size_t max_bytes) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file.is_open()) return system_failure("cannot open", path, errno);
  if (auto status = check_readable_kind(file.get(), path); !status)
    return std::unexpected(status.error());

  std::string content;
  char buffer[16384];
  for (;;) {  // not by size, which is 0 for files of /proc and /sys
    const ssize_t got = ::read(file.get(), buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_failure("cannot read", path, errno);
    if (got == 0) return content;
    if (content.size() + static_cast<std::size_t>(got) > max_bytes) {
      return fail(ErrorKind::kTooLarge, "cannot read " + path.string() + ": more than " +
                                            std::to_string(max_bytes) + " bytes");
    }
    content.append(buffer, static_cast<std::size_t>(got));
  }
}

Status write_file_atomically(const std::filesystem::path& path, std::string_view content,
                             unsigned mode) {
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  std::string temporary = (folder / ("." + path.filename().string() + ".XXXXXX")).string();
  Descriptor file(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!file.is_open()) return system_failure("cannot create a temporary file next to", path, errno);

  Status status = fill(file, path, content, mode);
  if (status && std::rename(temporary.c_str(), path.c_str()) != 0)
    status = system_failure("cannot replace", path, errno);
  if (!status) {
    ::unlink(temporary.c_str());
    return status;
  }
  return flush_folder(folder);
}

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

FileReload::FileReload(const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    if (!file.empty()) watches_.emplace_back(file);
  }
}

Status FileReload::reload_if_due(const std::function<Status()>& read) {
  for (FileWatch& watch : watches_) is_due_ = watch.changed() || is_due_;
  if (!is_due_) return {};
  auto status = read();
  is_due_ = !status;
  const std::string message = status ? std::string() : status.error().message;
  if (std::exchange(reported_, message) == message) return {};
  return status;
}

}  // namespace gpuward
