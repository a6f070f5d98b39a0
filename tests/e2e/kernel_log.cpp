#include "tests/e2e/kernel_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "exporter/kernel_log/kmsg_reader.h"
#include "exporter/store/state_file.h"

namespace gpuward::e2e {
namespace {

constexpr const char* kDevice = "/dev/kmsg";

std::unexpected<Error> system_error(const std::string& attempted) {
  return fail(ErrorKind::kUnavailable, attempted + ": " + std::strerror(errno));
}

// The sequence number of the newest record; nullopt where the ring is empty.
Result<std::optional<std::uint64_t>> newest_record() {
  const int device = ::open(kDevice, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (device < 0) return system_error(std::string("opening ") + kDevice);
  std::optional<std::uint64_t> newest;
  std::array<char, 8192> record{};
  for (;;) {
    const ssize_t bytes = ::read(device, record.data(), record.size());
    if (bytes < 0 && (errno == EPIPE || errno == EINTR)) continue;  // overwritten meanwhile: go on
    if (bytes <= 0) break;
    const std::string_view text(record.data(), static_cast<std::size_t>(bytes));
    if (const auto parsed = exporter::parse_kmsg_record(text)) newest = parsed->sequence;
  }
  ::close(device);
  return newest;
}

}  // namespace

Result<KernelLog> KernelLog::device_or_fifo(const std::filesystem::path& fallback) {
  const int device = ::open(kDevice, O_WRONLY | O_CLOEXEC);
  if (device < 0 || !newest_record()) {
    if (device >= 0) ::close(device);
    return fifo(fallback);
  }
  return KernelLog(kDevice, device);
}

Result<KernelLog> KernelLog::fifo(const std::filesystem::path& path) {
  if (::mkfifo(path.c_str(), 0600) != 0) return system_error("making the FIFO " + path.string());
  // Open for both, so that what is written waits for its reader, however often that one restarts.
  const int descriptor = ::open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) return system_error("opening the FIFO " + path.string());
  return KernelLog(path, descriptor);
}

KernelLog::KernelLog(std::filesystem::path path, int descriptor)
    : path_(std::move(path)), descriptor_(descriptor) {}

KernelLog::KernelLog(KernelLog&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

KernelLog::~KernelLog() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Status KernelLog::write(std::string_view line) const {
  const std::string text = std::string(line) + "\n";
  if (::write(descriptor_, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    return system_error("writing to " + path_.string());
  }
  return {};
}

bool KernelLog::is_device() const { return path_ == kDevice; }

Status remember_end_of_device(const std::filesystem::path& state_folder) {
  const auto newest = newest_record();
  if (!newest) return std::unexpected(newest.error());
  exporter::State state;
  state.boot_id = exporter::read_boot_id();
  state.position.path = kDevice;
  state.position.boot_id = state.boot_id;
  state.position.sequence = *newest;
  return exporter::StateFile(state_folder).save(exporter::to_state_json(state));
}

}  // namespace gpuward::e2e
