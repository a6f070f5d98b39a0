#include "exporter/gpu/worker/worker_loop.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "core/runtime/memory.h"
#include "exporter/gpu/worker/message_lines.h"
#include "exporter/gpu/worker/protocol.h"

namespace gpuward::exporter {
namespace {

constexpr int kGood = 0;
constexpr int kFailed = 1;
constexpr int kWrongRequest = 2;
// An event ends the wait at once; shorter waits would only cost CPU time.
constexpr std::chrono::milliseconds kEventWait{5'000};
constexpr std::size_t kMostRequestBytes = 64;
constexpr int kFirstFree = 3;

}  // namespace

// Writes whole messages into the pipe, from any thread.
class GpuWorker::Outlet {
 public:
  explicit Outlet(int descriptor) : descriptor_(descriptor) {}

  void send(const WorkerMessage& message) {
    const std::string line = encode_message(message);
    const std::lock_guard lock(mutex_);
    std::string_view rest = line;
    while (!rest.empty() && !is_broken_) {
      const ssize_t written = ::write(descriptor_, rest.data(), rest.size());
      if (written > 0) rest.remove_prefix(static_cast<std::size_t>(written));
      is_broken_ = written < 0 && errno != EINTR;
    }
  }
  [[nodiscard]] bool is_broken() const { return is_broken_; }

 private:
  int descriptor_;
  std::mutex mutex_;
  std::atomic<bool> is_broken_{false};
};

namespace {

using Outlet = GpuWorker::Outlet;
using Libraries = std::vector<std::unique_ptr<GpuLibrary>>;

GpuReport read_all(const Libraries& libraries, Outlet& outlet) {
  const auto progress = [&](std::string_view at) { outlet.send({.progress = std::string(at)}); };
  GpuReport report;
  for (const auto& library : libraries) {
    VendorReading vendor = library->read(progress);
    if (vendor.state != LibraryState::kAbsent) report.vendors.push_back(std::move(vendor));
  }
  return report;
}

void send_xids(const std::stop_token& stop, GpuLibrary& library, Outlet& outlet) {
  while (!stop.stop_requested() && !outlet.is_broken()) {
    for (GpuXid& xid : library.wait_for_xids(kEventWait)) outlet.send({.xid = std::move(xid)});
  }
}

int answer_requests(const Libraries& libraries, int in, Outlet& outlet) {
  MessageLines lines(kMostRequestBytes);
  bool is_wrong = false;
  bool has_started = false;
  while (!outlet.is_broken() && !is_wrong) {
    std::array<char, kMostRequestBytes> bytes{};
    const ssize_t got = ::read(in, bytes.data(), bytes.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return kGood;
    lines.feed({bytes.data(), static_cast<std::size_t>(got)}, [&](std::string_view line) {
      is_wrong |= !kReadRequest.starts_with(line) || line.size() + 1 != kReadRequest.size();
      if (!is_wrong) outlet.send({.report = read_all(libraries, outlet)});
      if (!std::exchange(has_started, true)) give_back_code_pages();
    });
    is_wrong |= lines.has_overflowed();
  }
  return is_wrong ? kWrongRequest : kGood;
}

}  // namespace

GpuWorker::GpuWorker(std::span<const LibraryEntry> entries, const LibraryPaths& paths, int in,
                     int out)
    : in_(in), outlet_(std::make_unique<Outlet>(out)) {
  for (const LibraryEntry& entry : entries) libraries_.push_back(entry.make(paths));
  // One thread for each library, so that one without events does not delay the others.
  for (const auto& library : libraries_) {
    listeners_.emplace_back(
        [&](const std::stop_token& stop) { send_xids(stop, *library, *outlet_); });
  }
}

GpuWorker::~GpuWorker() = default;

int GpuWorker::run() { return answer_requests(libraries_, in_, *outlet_); }

void gpu_worker_main(std::span<const LibraryEntry> libraries, const LibraryPaths& paths) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::prctl(PR_SET_NAME, "gpuward-worker");  // else the kernel calls it "exe"
  ::signal(SIGPIPE, SIG_IGN);
  // Neither a library nor a program that it starts may write to the pipes or keep them open.
  const int in = ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, kFirstFree);
  const int out = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, kFirstFree);
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (in < 0 || out < 0 || nothing < 0) ::_exit(kFailed);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  ::close(nothing);
  GpuWorker worker(libraries, paths, in, out);
  ::_exit(worker.run());  // at once: a listener may be inside the driver
}

}  // namespace gpuward::exporter
