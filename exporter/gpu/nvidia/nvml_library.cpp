#include "exporter/gpu/nvidia/nvml_library.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "core/runtime/clock.h"
#include "core/runtime/files.h"
#include "exporter/gpu/nvidia/askable_device.h"
#include "exporter/gpu/nvidia/driver_root.h"
#include "exporter/gpu/nvidia/event_slot.h"
#include "exporter/gpu/nvidia/read_device.h"
#include "exporter/gpu/nvidia/session.h"
#include "exporter/gpu/nvidia/xid_events.h"
#include "exporter/gpu/report/library.h"
#include "exporter/gpu/report/reading.h"

namespace gpuward::exporter::nvml {
namespace {

// The GPUs that reach each other's memory, and the distance between them. The cost grows with the
// square of the number of GPUs, so NvmlLibrary reads it only now and then.

Maybe<std::uint32_t> status_of(const Symbols& nvml, Device from, Device to, I32 what) {
  I32 status = 0;
  if (nvml.peer_status(from, to, what, &status) != kSuccess || status < 0) return std::nullopt;
  return static_cast<std::uint32_t>(status);
}

Maybe<std::uint32_t> ancestor_of(const Symbols& nvml, Device from, Device to) {
  I32 level = 0;
  if (nvml.common_ancestor(from, to, &level) != kSuccess || level < 0) return std::nullopt;
  return static_cast<std::uint32_t>(level);
}

using Ancestors = std::map<std::pair<std::uint32_t, std::uint32_t>, Maybe<std::uint32_t>>;

// Symmetric, so each pair is read once.
Maybe<std::uint32_t> ancestor_once(const Symbols& nvml, const AskableDevice& from,
                                   const AskableDevice& to, Ancestors& known) {
  const auto pair = std::minmax(from.index, to.index);
  const auto found = known.find(pair);
  if (found != known.end()) return found->second;
  return known[pair] = ancestor_of(nvml, from.device, to.device);
}

// Reads each ordered pair of different GPUs, in the order of `devices`.
std::vector<PeerStatus> read_peers(const Session& session, std::span<const AskableDevice> devices,
                                   const Progress& progress) {
  const Symbols& nvml = session.symbols();
  std::vector<PeerStatus> peers;
  Ancestors ancestors;
  for (const AskableDevice& from : devices) {
    progress("peers, from " + from.pci_bus_id);  // a hang there may be of any GPU
    for (const AskableDevice& to : devices) {
      if (from.index == to.index) continue;
      PeerStatus peer;
      peer.from = from.index;
      peer.to = to.index;
      peer.read_status = status_of(nvml, from.device, to.device, kPeerRead);
      peer.write_status = status_of(nvml, from.device, to.device, kPeerWrite);
      peer.nvlink_status = status_of(nvml, from.device, to.device, kPeerNvlink);
      peer.topology = ancestor_once(nvml, from, to, ancestors);
      peers.push_back(peer);
    }
  }
  return peers;
}

// Finds the PCI addresses of GPUs that NVML does not report. A GPU that is lost when the library is
// opened has no address, and so no series, and no other source can be matched to it. The PCI bus
// shows its address if only one is possible. Used by NvmlLibrary.

namespace fs = std::filesystem;

constexpr std::size_t kMostBytes = 64;

bool begins_with(const fs::path& file, std::string_view text) {
  const auto content = read_file(file, kMostBytes);
  return content && content->starts_with(text);
}

// Display and 3D controllers, without virtual functions of a GPU that is listed too.
bool is_gpu(const fs::path& device) {
  std::error_code failed;
  return begins_with(device / "vendor", "0x10de") && begins_with(device / "class", "0x03") &&
         !fs::exists(device / "physfn", failed);
}

bool is_driven(const fs::path& device) {
  std::error_code failed;
  return fs::read_symlink(device / "driver", failed).filename() == "nvidia" && !failed;
}

// Returns the GPUs that the kernel has bound to NVIDIA's driver, ascending; empty if the tree lacks
// them. Reads only the kernel's memory; does not access a device.
std::vector<PciAddress> gpus_of_driver(const std::string& sys) {
  std::vector<PciAddress> gpus;
  std::error_code failed;
  for (fs::directory_iterator at(fs::path(sys) / "bus/pci/devices", failed);
       !failed && at != fs::directory_iterator(); at.increment(failed)) {
    const auto address = parse_pci_address(at->path().filename().string());
    if (address && is_gpu(at->path()) && is_driven(at->path())) gpus.push_back(*address);
  }
  std::ranges::sort(gpus);
  return gpus;
}

// Gives the remaining places on the bus to the GPUs without an address if their numbers are equal,
// and either there is only one or all of these GPUs are lost, so that their order does not matter.
void place_gpus(const std::vector<PciAddress>& on_bus, std::vector<GpuReading>& gpus) {
  std::vector<GpuReading*> nowhere;
  for (GpuReading& reading : gpus) {
    if (!reading.gpu.has_address()) nowhere.push_back(&reading);
  }
  std::vector<PciAddress> left = on_bus;
  std::erase_if(left, [&](const PciAddress& place) {
    return std::ranges::any_of(
        gpus, [&](const GpuReading& reading) { return reading.gpu.pci.same_device(place); });
  });
  if (left.size() != nowhere.size()) return;
  const bool are_alike = std::ranges::all_of(nowhere, &GpuReading::is_lost);
  if (nowhere.size() > 1 && !are_alike) return;
  for (std::size_t i = 0; i < left.size(); ++i) nowhere[i]->gpu.pci = left[i];
}

constexpr std::uint32_t kMaxGpus = 256;  // a machine has 16 today

class NvmlLibrary final : public GpuLibrary {
 public:
  explicit NvmlLibrary(const LibraryPaths& paths)
      : name_(paths.nvml),
        driver_root_(paths.driver_root),
        sys_(paths.sys),
        choice_(paths.choice),
        library_(name_),
        events_(clock_) {}
  ~NvmlLibrary() override { close({}); }

  VendorReading read(const Progress& progress) override;
  std::vector<GpuXid> wait_for_xids(std::chrono::milliseconds limit) override {
    return events_.wait(limit);
  }

 private:
  // Returns false if the library must be closed; the report says why.
  bool read_open(const Progress& progress, VendorReading& report);
  bool open(const Progress& progress, VendorReading& report);
  void close(const Progress& progress);
  bool count_gpus(const Progress& progress, VendorReading& report);
  bool read_gpus(const Progress& progress, VendorReading& report);
  DeviceAnswer read_gpu(std::uint32_t index, bool is_thorough, const Progress& progress);

  const std::string name_, driver_root_, sys_;
  const GpuChoice choice_;
  std::string library_;  // the last one opened
  const SystemClock clock_;
  std::shared_ptr<const Session> session_;
  std::vector<KnownDevice> known_;       // by index, of this session
  std::vector<AskableDevice> askable_;   // at the last reading
  std::vector<AskableDevice> compared_;  // the GPUs in peers_
  std::vector<PeerStatus> peers_;
  unsigned turn_ = 0;  // readings of this session
  EventSlot events_;
};

VendorReading NvmlLibrary::read(const Progress& progress) {
  VendorReading report;
  report.library = library_;
  // Twice: if the driver was upgraded, the second try of the same reading finds it.
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (!session_ && !open(progress, report)) return report;
    if (read_open(progress, report)) return report;
    close(progress);
  }
  return report;
}

bool NvmlLibrary::open(const Progress& progress, VendorReading& report) {
  library_ = library_below(driver_root_, name_);
  report.library = library_;
  auto session = Session::open(library_, progress);
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

bool NvmlLibrary::count_gpus(const Progress& progress, VendorReading& report) {
  progress("counting the GPUs");
  std::uint32_t count = 0;
  const ReturnCode code = session_->symbols().count(&count);
  if (code == kSuccess) {
    count = std::min(count, kMaxGpus);
    if (count != known_.size()) known_.assign(count, {});  // the indexes may have changed
    return true;
  }
  report.fault = session_->words(session_->symbols().count.name(), code);
  return false;
}

DeviceAnswer NvmlLibrary::read_gpu(std::uint32_t index, bool is_thorough,
                                   const Progress& progress) {
  KnownDevice& known = known_[index];
  const ReadingPlan plan{choice_, is_thorough, progress};
  auto answer = read_device(*session_, index, plan, known);
  const bool is_just_opened = turn_ == 0;
  if (!answer.wants_reopen || known.refuses || !is_just_opened) return answer;
  // A newly opened library works, so the GPU is at fault: read again, for all values that it still
  // reports.
  known.refuses = true;
  return read_device(*session_, index, plan, known);
}

bool NvmlLibrary::read_gpus(const Progress& progress, VendorReading& report) {
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
  if (!has_address) place_gpus(gpus_of_driver(sys_), report.gpus);
  if (is_thorough || askable_ != compared_) {
    peers_ = read_peers(*session_, askable_, progress);
    compared_ = askable_;
  }
  report.peers = peers_;
  return true;
}

bool NvmlLibrary::read_open(const Progress& progress, VendorReading& report) {
  report.driver_version = session_->driver_version();
  report.library_version = session_->library_version();
  if (!count_gpus(progress, report) || !read_gpus(progress, report)) {
    report.state = LibraryState::kUnusable;
    return false;
  }
  report.state = LibraryState::kReady;
  report.fault.clear();
  report.has_hung_events = events_.is_stuck();
  // The registration of a GPU would wait for the call that does not return.
  if (!report.has_hung_events) events_.keep(session_, askable_, progress);
  ++turn_;
  return true;
}

}  // namespace
}  // namespace gpuward::exporter::nvml

namespace gpuward::exporter {

std::unique_ptr<GpuLibrary> make_nvml_library(const LibraryPaths& paths) {
  return std::make_unique<nvml::NvmlLibrary>(paths);
}

}  // namespace gpuward::exporter
