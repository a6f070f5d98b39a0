#include "exporter/kernel_log/file_identity.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <system_error>

namespace gpuward::exporter {
namespace {

constexpr std::uint64_t kWindowBytes = 256;
constexpr int kMostNames = 1000;

// FNV-1a, 64 bits: the same in every build, so that it can be kept in a file.
std::uint64_t hash(std::string_view bytes) {
  std::uint64_t value = 14695981039346656037ULL;
  for (const char byte : bytes) {
    value ^= static_cast<unsigned char>(byte);
    value *= 1099511628211ULL;
  }
  return value;
}

}  // namespace

std::optional<std::uint64_t> fingerprint_before(const Descriptor& file, std::uint64_t offset) {
  std::array<char, kWindowBytes> window{};
  const std::uint64_t size = std::min(offset, kWindowBytes);
  const ssize_t got = ::pread(file.get(), window.data(), size, static_cast<off_t>(offset - size));
  if (got < 0 || static_cast<std::uint64_t>(got) != size) return std::nullopt;
  return hash({window.data(), size});
}

bool continues_at(const Descriptor& file, const LogPosition& position) {
  struct stat status{};
  if (::fstat(file.get(), &status) != 0 || status.st_ino != position.inode) return false;
  return fingerprint_before(file, position.offset) == position.fingerprint;
}

Descriptor find_continuation(const std::filesystem::path& path, const LogPosition& position) {
  std::error_code error;
  int names = 0;
  for (std::filesystem::directory_iterator entry(path.parent_path(), error), end;
       !error && entry != end && names < kMostNames; entry.increment(error), ++names) {
    struct stat status{};
    const bool is_candidate = ::stat(entry->path().c_str(), &status) == 0 &&
                              S_ISREG(status.st_mode) && status.st_ino == position.inode;
    if (!is_candidate) continue;
    Descriptor file(::open(entry->path().c_str(), O_RDONLY | O_CLOEXEC));
    if (file.is_open() && continues_at(file, position)) return file;
  }
  return {};
}

}  // namespace gpuward::exporter
