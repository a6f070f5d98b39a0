#include "exporter/gpu/nvidia/nvml_library.h"

#include <algorithm>
#include <utility>

#include "core/runtime/clock.h"
#include "exporter/gpu/nvidia/event_slot.h"
#include "exporter/gpu/nvidia/peers.h"
#include "exporter/gpu/nvidia/places.h"
#include "exporter/gpu/nvidia/read_device.h"
#include "exporter/gpu/nvidia/session.h"
#include "exporter/gpu/nvidia/xid_events.h"

namespace gpuward::exporter {
namespace {

using nvml::ReturnCode;
using nvml::Session;

constexpr std::uint32_t kMaxGpus = 256;  // a machine has 16 today

class NvmlLibrary final : public GpuLibrary {
 public:
  explicit NvmlLibrary(const LibraryPaths& paths)
      : name_(paths.nvml), sys_(paths.sys), choice_(paths.choice), events_(clock_) {}
  ~NvmlLibrary() override { close({}); }

  VendorReport read(const Progress& progress) override;
  std::vector<GpuXid> wait_for_xids(std::chrono::milliseconds limit) override {
    return events_.wait(limit);
  }

 private:
  // False where the library has to be closed; the report says why.
  bool read_open(const Progress& progress, VendorReport& report);
  bool open(const Progress& progress, VendorReport& report);
  void close(const Progress& progress);
  bool count_gpus(const Progress& progress, VendorReport& report);
  bool read_gpus(const Progress& progress, VendorReport& report);
  nvml::DeviceAnswer read_gpu(std::uint32_t index, bool is_thorough, const Progress& progress);

  const std::string name_, sys_;
  const GpuChoice choice_;
  const SystemClock clock_;
  std::shared_ptr<const Session> session_;
  std::vector<nvml::KnownDevice> known_;       // by index, of this session
  std::vector<nvml::AskableDevice> askable_;   // at the last reading
  std::vector<nvml::AskableDevice> compared_;  // those that peers_ is about
  std::vector<PeerStatus> peers_;
  unsigned turn_ = 0;  // readings of this session
  nvml::EventSlot events_;
};

VendorReport NvmlLibrary::read(const Progress& progress) {
  VendorReport report;
  report.library = name_;
  // Twice: a driver that was upgraded is found by the second try of the same reading.
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (!session_ && !open(progress, report)) return report;
    if (read_open(progress, report)) return report;
    close(progress);
  }
  return report;
}

bool NvmlLibrary::open(const Progress& progress, VendorReport& report) {
  auto session = Session::open(name_, progress);
  if (session) {
    session_ = std::move(*session);
    return true;
  }
  const bool is_absent = session.error().kind == ErrorKind::kNotFound;
  report.state = is_absent ? LibraryState::kAbsent : LibraryState::kUnusable;
  report.fault = is_absent ? "" : session.error().message;
  return false;
}

void NvmlLibrary::close(const Progress& progress) {
  if (progress) progress(kClosingProgress);
  events_.empty(progress);
  session_.reset();
  known_.clear();
  askable_.clear();
  compared_.clear();
  peers_.clear();
  turn_ = 0;
}

bool NvmlLibrary::count_gpus(const Progress& progress, VendorReport& report) {
  progress("counting the GPUs");
  std::uint32_t count = 0;
  const ReturnCode code = session_->symbols().count(&count);
  if (code == nvml::kSuccess) {
    count = std::min(count, kMaxGpus);
    if (count != known_.size()) known_.assign(count, {});  // which is which is not known any more
    return true;
  }
  report.fault = session_->words(session_->symbols().count.name(), code);
  return false;
}

nvml::DeviceAnswer NvmlLibrary::read_gpu(std::uint32_t index, bool is_thorough,
                                         const Progress& progress) {
  nvml::KnownDevice& known = known_[index];
  const nvml::ReadingPlan plan{choice_, is_thorough, progress};
  auto answer = nvml::read_device(*session_, index, plan, known);
  const bool is_just_opened = turn_ == 0;
  if (!answer.wants_reopen || known.refuses || !is_just_opened) return answer;
  // A library just opened is of use: once more, for all that this GPU does say.
  known.refuses = true;
  return nvml::read_device(*session_, index, plan, known);
}

bool NvmlLibrary::read_gpus(const Progress& progress, VendorReport& report) {
  const bool is_thorough = turn_ % kThoroughEvery == 0;
  askable_.clear();
  for (std::uint32_t index = 0; index < known_.size(); ++index) {
    auto answer = read_gpu(index, is_thorough, progress);
    if (answer.wants_reopen && !known_[index].refuses) {
      report.fault = answer.reading.fault;
      report.gpus.clear();
      return false;
    }
    if (answer.can_be_asked()) {
      askable_.push_back({index, answer.device, answer.reading.gpu.pci.bus_id()});
    }
    report.gpus.push_back(std::move(answer.reading));
  }
  const bool has_address =
      std::ranges::all_of(report.gpus, [](const GpuReading& gpu) { return gpu.gpu.has_address(); });
  if (!has_address) nvml::place_gpus(nvml::gpus_of_driver(sys_), report.gpus);
  if (is_thorough || askable_ != compared_) {
    peers_ = nvml::read_peers(*session_, askable_, progress);
    compared_ = askable_;
  }
  report.peers = peers_;
  return true;
}

bool NvmlLibrary::read_open(const Progress& progress, VendorReport& report) {
  report.driver_version = session_->driver_version();
  report.library_version = session_->library_version();
  if (!count_gpus(progress, report) || !read_gpus(progress, report)) {
    report.state = LibraryState::kUnusable;
    return false;
  }
  report.state = LibraryState::kReady;
  report.fault.clear();
  report.has_hung_events = events_.is_stuck();
  // To register a GPU would wait for the call that does not come back.
  if (!report.has_hung_events) events_.keep(session_, askable_, progress);
  ++turn_;
  return true;
}

}  // namespace

std::unique_ptr<GpuLibrary> make_nvml_library(const LibraryPaths& paths) {
  return std::make_unique<NvmlLibrary>(paths);
}

}  // namespace gpuward::exporter
