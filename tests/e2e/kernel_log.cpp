#include "tests/e2e/kernel_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "exporter/host/boot.h"
#include "exporter/kernel_log/kmsg_reader.h"
#include "exporter/store/state_file.h"
#include "tests/support/kernel_log_lock.h"

namespace gpuward::e2e {
namespace {

std::unexpected<Error> system_error(const std::string& attempted) {
  return fail(ErrorKind::kUnavailable, attempted + ": " + std::strerror(errno));
}

// The sequence number of the newest record; nullopt if the ring is empty.
Result<std::optional<std::uint64_t>> newest_record(const std::filesystem::path& path) {
  const int device = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (device < 0) return system_error("opening " + path.string());
  std::optional<std::uint64_t> newest;
  std::array<char, 8192> record{};
  for (;;) {
    const ssize_t bytes = ::read(device, record.data(), record.size());
    if (bytes < 0 && (errno == EPIPE || errno == EINTR))
      continue;  // overwritten meanwhile: continue
    if (bytes <= 0) break;
    const std::string_view text(record.data(), static_cast<std::size_t>(bytes));
    if (const auto parsed = exporter::parse_kmsg_record(text)) newest = parsed->sequence;
  }
  ::close(device);
  return newest;
}

}  // namespace

Result<KernelLog> KernelLog::device_or_fifo(const std::filesystem::path& fallback,
                                            const std::filesystem::path& device) {
  const int descriptor = support::open_kernel_log(device);
  if (descriptor < 0 || !newest_record(device)) {
    if (descriptor >= 0) ::close(descriptor);
    return fifo(fallback);
  }
  return KernelLog(Kind::kDevice, device, descriptor);
}

Result<KernelLog> KernelLog::fifo(const std::filesystem::path& path) {
  if (::mkfifo(path.c_str(), 0600) != 0) return system_error("making the FIFO " + path.string());
  // Open for reading and writing, so that written lines wait for the reader, however often it
  // restarts.
  const int descriptor = ::open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) return system_error("opening the FIFO " + path.string());
  return KernelLog(Kind::kFifo, path, descriptor);
}

KernelLog::KernelLog(Kind kind, std::filesystem::path path, int descriptor)
    : kind_(kind), path_(std::move(path)), descriptor_(descriptor) {}

KernelLog::KernelLog(KernelLog&& other) noexcept
    : kind_(other.kind_),
      path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

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

Status remember_end_of(const std::filesystem::path& device,
                       const std::filesystem::path& state_folder) {
  const auto newest = newest_record(device);
  if (!newest) return std::unexpected(newest.error());
  exporter::State state;
  state.boot_id = exporter::read_boot({}).id;
  state.position.path = device;
  state.position.boot_id = state.boot_id;
  state.position.sequence = *newest;
  return exporter::StateFile(state_folder).save(exporter::to_state_json(state));
}

}  // namespace gpuward::e2e
