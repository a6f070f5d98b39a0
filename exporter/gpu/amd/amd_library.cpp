#include "exporter/gpu/amd/amd_library.h"

#include <condition_variable>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "core/model/pci_address.h"
#include "core/runtime/text.h"
#include "exporter/gpu/amd/amd_smi.h"
#include "exporter/gpu/amd/device_reading.h"
#include "exporter/gpu/amd/devices.h"
#include "exporter/gpu/amd/ras.h"
#include "exporter/gpu/amd/sysfs.h"
#include "exporter/gpu/report/reading.h"

namespace gpuward::exporter::amd {
namespace {

// The GPUs that the compute driver (KFD) offers to programs: a GPU that amdgpu has and KFD lacks
// cannot run a ROCm program. Read once a report. Used by SysfsLibrary.

struct KfdGpus {
  std::set<PciAddress> gpus;
  // False if there is no KFD, or if a node is not readable (a container without that GPU).
  bool is_complete = false;

  [[nodiscard]] Maybe<bool> has(const PciAddress& address) const;
};

namespace fs = std::filesystem;

using Properties = std::map<std::string, std::uint64_t, std::less<>>;

// Reads `simd_count 1216`, one a line. Some numbers are large; a node has about sixty lines.
Properties parse_properties(std::string_view text) {
  Properties properties;
  for (const std::string_view line : lines_of(text)) {
    const auto blank = line.find(' ');
    if (blank == std::string_view::npos) continue;
    if (const auto value = parse_integer<std::uint64_t>(trim(line.substr(blank + 1)))) {
      properties.emplace(line.substr(0, blank), *value);
    }
  }
  return properties;
}

std::uint64_t value_of(const Properties& properties, std::string_view key) {
  const auto found = properties.find(key);
  return found == properties.end() ? 0 : found->second;
}

// A GPU has SIMDs and no CPU core; an APU has both.
std::optional<PciAddress> gpu_of(const Properties& properties) {
  if (value_of(properties, "gfx_target_version") == 0) return std::nullopt;
  // kfd_topology.c: the PCI address, with the bus in the high byte and the device in the upper five
  // bits of the low byte.
  const std::uint64_t location = value_of(properties, "location_id");
  return PciAddress{static_cast<std::uint32_t>(value_of(properties, "domain")),
                    static_cast<std::uint8_t>(location >> 8U),
                    static_cast<std::uint8_t>(location >> 3U & 0x1FU), std::nullopt};
}

Maybe<bool> KfdGpus::has(const PciAddress& address) const {
  for (const PciAddress& gpu : gpus) {
    if (gpu.same_device(address)) return true;
  }
  return is_complete ? Maybe<bool>(false) : std::nullopt;
}

KfdGpus read_kfd(const fs::path& sys) {
  const fs::path nodes = sys / "class/kfd/kfd/topology/nodes";
  KfdGpus found;
  const auto names = list_names(nodes);
  found.is_complete = !names.empty();
  for (const std::string& name : names) {
    const auto text = read_attribute(nodes / name / "properties");
    if (!text) found.is_complete = false;
    if (const auto gpu = text ? gpu_of(parse_properties(*text)) : std::nullopt) {
      found.gpus.insert(*gpu);
    }
  }
  return found;
}

// Whether sysfs lacks a value that the library may have.
bool lacks_something(const GpuReading& reading) {
  return reading.ras.empty() || reading.gpu.uuid.empty();
}

class AmdLibrary final : public GpuLibrary {
 public:
  explicit AmdLibrary(LibraryPaths paths) : paths_(std::move(paths)) {}

  VendorReading read(const Progress& progress) override {
    const Devices found = find_devices(paths_.sys);
    VendorReading report;
    report.vendor = Vendor::kAmd;
    report.library = "amdgpu sysfs";
    report.driver_version = read_word(paths_.sys + "/module/amdgpu/version");
    report.state = state_of(found, report.fault);
    if (report.state != LibraryState::kReady) return report;
    const KfdGpus kfd = read_kfd(paths_.sys);
    for (const Device& device : found.devices) {
      report.gpus.push_back(read_gpu(device, kfd, progress));
      report.gpus.back().gpu.index = static_cast<int>(report.gpus.size()) - 1;
    }
    ask_amd_smi(report, progress);
    return report;
  }

  // The driver's events are not worth a thread: resets, hangs and RAS errors are in the kernel log.
  std::vector<GpuXid> wait_for_xids(std::chrono::milliseconds limit) override {
    std::unique_lock lock(mutex_);
    never_.wait_for(lock, limit, [] { return false; });
    return {};
  }

 private:
  static LibraryState state_of(const Devices& found, std::string& fault) {
    if (!found.devices.empty()) return LibraryState::kReady;
    if (!found.is_driver_loaded || found.on_pci == 0) return LibraryState::kAbsent;
    fault = "the amdgpu driver is loaded, but drives none of the " + std::to_string(found.on_pci) +
            " AMD GPUs on the PCI bus";
    return LibraryState::kUnusable;
  }

  [[nodiscard]] GpuReading read_gpu(const Device& device, const KfdGpus& kfd,
                                    const Progress& progress) const {
    if (!paths_.choice.asks_address(device.pci)) return left_out(device);
    const std::string bus_id = device.pci.bus_id();
    GpuReading reading = read_device(device, [&](std::string_view part) {
      progress(std::string(bus_id).append(" ").append(part));
    });
    reading.is_in_kfd = kfd.has(device.pci);
    return reading;
  }

  static GpuReading left_out(const Device& device) {
    GpuReading reading;
    reading.gpu.vendor = Vendor::kAmd;
    reading.gpu.pci = device.pci;
    reading.is_hung = true;
    reading.fault = "left out";
    return reading;
  }

  // Opens libamd_smi when it is first needed, and again, at most once a reading, if it does not
  // list a GPU (the driver was reloaded).
  const AmdSmi* amd_smi_for(const PciAddress& gpu) {
    if (may_open_ && !(amd_smi_ && amd_smi_->has(gpu))) {
      may_open_ = false;
      amd_smi_.reset();
      auto opened = AmdSmi::open(paths_.amd_smi);
      if (opened) amd_smi_ = std::move(*opened);
    }
    return amd_smi_.get();
  }

  // Fills the values that sysfs lacks: error records everywhere, the others on some nodes.
  void ask_amd_smi(VendorReading& report, const Progress& progress) {
    if (paths_.amd_smi.empty()) return;
    may_open_ = true;
    for (GpuReading& reading : report.gpus) {
      if (reading.is_hung || (!paths_.reads_amd_cper && !lacks_something(reading))) continue;
      progress("opening libamd_smi");  // which examines all GPUs
      const AmdSmi* const library = amd_smi_for(reading.gpu.pci);
      if (library == nullptr) return;
      progress(reading.gpu.pci.bus_id() + " libamd_smi");
      report.library_version = library->version();
      fill_gaps(*library, reading);
      if (!paths_.reads_amd_cper) continue;
      progress(reading.gpu.pci.bus_id() + " " + std::string(kErrorRecordsProgress));
      reading.latest_cper = library->latest_cper(reading.gpu.pci);
    }
  }

  static void fill_gaps(const AmdSmi& library, GpuReading& reading) {
    if (reading.gpu.uuid.empty()) reading.gpu.uuid = library.uuid(reading.gpu.pci);
    if (!reading.ras.empty()) return;
    reading.ras = library.error_counts(reading.gpu.pci);
    add_totals(reading.ras, reading.ecc);
  }

  LibraryPaths paths_;
  std::unique_ptr<AmdSmi> amd_smi_;
  bool may_open_ = false;  // not yet in this reading
  std::mutex mutex_;
  std::condition_variable never_;
};

}  // namespace
}  // namespace gpuward::exporter::amd

namespace gpuward::exporter {

std::unique_ptr<GpuLibrary> make_amd_library(const LibraryPaths& paths) {
  return std::make_unique<amd::AmdLibrary>(paths);
}

}  // namespace gpuward::exporter
