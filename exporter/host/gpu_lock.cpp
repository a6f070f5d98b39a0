#include "exporter/host/gpu_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "core/runtime/text.h"

namespace gpuward::exporter {
namespace {

constexpr const char* kFileName = "diagnostic.lock";
constexpr std::size_t kMostWords = 200;

std::string why() { return std::error_code(errno, std::generic_category()).message(); }

std::string holder(int file) {
  std::array<char, kMostWords> words{};
  const auto size = ::pread(file, words.data(), words.size(), 0);
  const std::string_view said(words.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  const std::string who = to_valid_utf8(trim(said));
  return who.empty() ? "another diagnostic" : who;
}

void write_holder(int file, const std::string& what) {
  const std::string words = to_valid_utf8(what, kMostWords) + "\n";
  // Only for operators: the kernel keeps the lock itself.
  if (::ftruncate(file, 0) == 0) (void)!::pwrite(file, words.data(), words.size(), 0);
}

}  // namespace

Result<GpuLock> GpuLock::take(const std::filesystem::path& state_folder, const std::string& what) {
  if (state_folder.empty()) return GpuLock(-1);
  const auto path = state_folder / kFileName;
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0 && errno == ENOENT) return GpuLock(-1);
  if (file < 0) return fail(ErrorKind::kUnavailable, "opening " + path.string() + ": " + why());
  GpuLock lock(file);
  if (::flock(file, LOCK_EX | LOCK_NB) == 0) {
    write_holder(file, what);
    return lock;
  }
  if (errno != EWOULDBLOCK)
    return fail(ErrorKind::kUnavailable, "locking " + path.string() + ": " + why());
  return fail(ErrorKind::kBlocked, holder(file) + " has the GPUs");
}

GpuLock::GpuLock(GpuLock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}

GpuLock::~GpuLock() {
  if (file_ >= 0) ::close(file_);
}

}  // namespace gpuward::exporter
