// A vendor's driver, as the GPU worker process asks it. A call may hang or crash in the driver:
// nothing but the worker may hold one of these. A new vendor is one folder and one line in all.cpp.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "exporter/gpu/report/gpu_choice.h"
#include "exporter/gpu/report/reading.h"

namespace gpuward::exporter {

// Where the vendors' libraries and trees are, and what they are asked for; tests put their own
// there.
struct LibraryPaths {
  std::string nvml = "libnvidia-ml.so.1";    // as dlopen takes it
  std::string driver_root = {};              // of NVIDIA's driver (driver_root.h); empty: none
  std::string amd_smi = "libamd_smi.so.26";  // likewise
  std::string sys = "/sys";
  bool reads_amd_cper = true;  // AMD's error records, through libamd_smi
  GpuChoice choice = {};
};

// Called before each GPU is read, so that the parent knows where a hang is: "0000:4e:00
// temperature".
using Progress = std::function<void(std::string_view)>;
// That of a library which is closed, to be opened again. Its event thread may still be in the
// driver then: it is waited for, for less than this.
inline constexpr std::string_view kClosingProgress = "closing the library";
inline constexpr std::chrono::milliseconds kLongestClosing{12'000};
// Ends that of AMD's error records, where some versions of the library crash.
inline constexpr std::string_view kErrorRecordsProgress = "error records (--gpu.amd-cper)";

class GpuLibrary {
 public:
  virtual ~GpuLibrary() = default;

  // Worker's main thread, again and again. Opens what is not open yet, so that a driver which is
  // installed, upgraded or reloaded later is found. Never throws; what cannot be read is absent.
  [[nodiscard]] virtual VendorReading read(const Progress& progress) = 0;
  // Worker's event thread. Blocks for at most `limit`; what the event set has given. Empty where
  // the driver has no events, after waiting for `limit`.
  [[nodiscard]] virtual std::vector<GpuXid> wait_for_xids(std::chrono::milliseconds limit) = 0;
};

struct LibraryEntry {
  std::string_view name;  // "nvidia", "amd"
  std::unique_ptr<GpuLibrary> (*make)(const LibraryPaths& paths);
};

// All vendors, in the order in which they are asked (all.cpp).
[[nodiscard]] std::span<const LibraryEntry> gpu_libraries();

}  // namespace gpuward::exporter
