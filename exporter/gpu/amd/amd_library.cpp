#include "exporter/gpu/amd/amd_library.h"

#include <condition_variable>
#include <mutex>
#include <string>
#include <utility>

#include "exporter/gpu/amd/amd_smi.h"
#include "exporter/gpu/amd/device_reading.h"
#include "exporter/gpu/amd/devices.h"
#include "exporter/gpu/amd/kfd.h"
#include "exporter/gpu/amd/ras.h"
#include "exporter/gpu/amd/sysfs.h"

namespace gpuward::exporter {
namespace {

// Which of its values sysfs did not have, so that the library is asked.
bool lacks_something(const GpuReading& reading) {
  return reading.ras.empty() || reading.gpu.uuid.empty();
}

class AmdLibrary final : public GpuLibrary {
 public:
  explicit AmdLibrary(LibraryPaths paths) : paths_(std::move(paths)) {}

  VendorReport read(const Progress& progress) override {
    const amd::Devices found = amd::find_devices(paths_.sys);
    VendorReport report;
    report.vendor = Vendor::kAmd;
    report.library = "amdgpu sysfs";
    report.driver_version = amd::read_word(paths_.sys + "/module/amdgpu/version");
    report.state = state_of(found, report.fault);
    if (report.state != LibraryState::kReady) return report;
    const amd::KfdGpus kfd = amd::read_kfd(paths_.sys);
    for (const amd::Device& device : found.devices) {
      report.gpus.push_back(read_gpu(device, kfd, progress));
      report.gpus.back().gpu.index = static_cast<int>(report.gpus.size()) - 1;
    }
    ask_amd_smi(report, progress);
    return report;
  }

  // The driver has no events that are worth a thread: resets, hangs and RAS errors are in the
  // kernel log.
  std::vector<GpuXid> wait_for_xids(std::chrono::milliseconds limit) override {
    std::unique_lock lock(mutex_);
    never_.wait_for(lock, limit, [] { return false; });
    return {};
  }

 private:
  static LibraryState state_of(const amd::Devices& found, std::string& fault) {
    if (!found.devices.empty()) return LibraryState::kReady;
    if (!found.is_driver_loaded || found.on_pci == 0) return LibraryState::kAbsent;
    fault = "the amdgpu driver is loaded and has none of the " + std::to_string(found.on_pci) +
            " AMD GPUs on the PCI bus";
    return LibraryState::kUnusable;
  }

  [[nodiscard]] GpuReading read_gpu(const amd::Device& device, const amd::KfdGpus& kfd,
                                    const Progress& progress) const {
    if (!paths_.choice.asks_address(device.pci)) return left_out(device);
    const std::string bus_id = device.pci.bus_id();
    GpuReading reading = amd::read_device(device, [&](std::string_view part) {
      progress(std::string(bus_id).append(" ").append(part));
    });
    reading.is_in_kfd = kfd.has(device.pci);
    return reading;
  }

  static GpuReading left_out(const amd::Device& device) {
    GpuReading reading;
    reading.gpu.vendor = Vendor::kAmd;
    reading.gpu.pci = device.pci;
    reading.is_hung = true;
    reading.fault = "left out";
    return reading;
  }

  // Opens libamd_smi when it is first needed, and again, once a reading, when it does not know a
  // GPU (a driver that was loaded anew).
  const amd::AmdSmi* amd_smi_for(const PciAddress& gpu) {
    if (may_open_ && !(amd_smi_ && amd_smi_->has(gpu))) {
      may_open_ = false;
      amd_smi_.reset();
      auto opened = amd::AmdSmi::open(paths_.amd_smi);
      if (opened) amd_smi_ = std::move(*opened);
    }
    return amd_smi_.get();
  }

  // For what sysfs does not have: error records never, the rest on some nodes.
  void ask_amd_smi(VendorReport& report, const Progress& progress) {
    if (paths_.amd_smi.empty()) return;
    may_open_ = true;
    for (GpuReading& reading : report.gpus) {
      if (reading.is_hung || (!paths_.reads_amd_cper && !lacks_something(reading))) continue;
      progress("opening libamd_smi");  // which looks at all GPUs
      const amd::AmdSmi* const library = amd_smi_for(reading.gpu.pci);
      if (library == nullptr) return;
      progress(reading.gpu.pci.bus_id() + " libamd_smi");
      report.library_version = library->version();
      fill_gaps(*library, reading);
      if (!paths_.reads_amd_cper) continue;
      progress(reading.gpu.pci.bus_id() + " " + std::string(kErrorRecordsProgress));
      reading.latest_cper = library->latest_cper(reading.gpu.pci);
    }
  }

  static void fill_gaps(const amd::AmdSmi& library, GpuReading& reading) {
    if (reading.gpu.uuid.empty()) reading.gpu.uuid = library.uuid(reading.gpu.pci);
    if (!reading.ras.empty()) return;
    reading.ras = library.error_counts(reading.gpu.pci);
    amd::add_totals(reading.ras, reading.ecc);
  }

  LibraryPaths paths_;
  std::unique_ptr<amd::AmdSmi> amd_smi_;
  bool may_open_ = false;  // not yet in this reading
  std::mutex mutex_;
  std::condition_variable never_;
};

}  // namespace

std::unique_ptr<GpuLibrary> make_amd_library(const LibraryPaths& paths) {
  return std::make_unique<AmdLibrary>(paths);
}

}  // namespace gpuward::exporter
