// A vendor's driver, as the GPU worker process reads it. A call may hang or crash in the driver, so
// only the worker may hold one. A new vendor is one folder and one line in all.cpp.
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

// The paths of the vendors' libraries and trees, and what to read; tests use their own paths.
struct LibraryPaths {
  std::string nvml = "libnvidia-ml.so.1";    // as dlopen takes it
  std::string driver_root = {};              // of NVIDIA's driver (driver_root.h); empty: none
  std::string amd_smi = "libamd_smi.so.26";  // likewise
  std::string sys = "/sys";
  bool reads_amd_cper = true;  // AMD's error records, through libamd_smi
  GpuChoice choice = {};
};

// Called before each GPU is read, so that the parent can locate a hang: "0000:4e:00 temperature".
using Progress = std::function<void(std::string_view)>;
// The progress of a library that is closed to be reopened. Its event thread may still be in the
// driver then; the wait for it is shorter than this.
inline constexpr std::string_view kClosingProgress = "closing the library";
inline constexpr std::chrono::milliseconds kLongestClosing{12'000};
// The end of the progress text for AMD's error records, in which some versions of the library
// crash.
inline constexpr std::string_view kErrorRecordsProgress = "error records (--gpu.amd-cper)";

class GpuLibrary {
 public:
  virtual ~GpuLibrary() = default;

  // Worker's main thread, repeatedly. Opens a library that is not open yet, so that a driver that
  // is installed, upgraded or reloaded later is found. Never throws; unreadable values are absent.
  [[nodiscard]] virtual VendorReading read(const Progress& progress) = 0;
  // Worker's event thread. Blocks for at most `limit`; returns the Xids of the event set. Empty
  // after `limit` if the driver has no events.
  [[nodiscard]] virtual std::vector<GpuXid> wait_for_xids(std::chrono::milliseconds limit) = 0;
};

struct LibraryEntry {
  std::string_view name;  // "nvidia", "amd"
  std::unique_ptr<GpuLibrary> (*make)(const LibraryPaths& paths);
};

// All vendors, in the order of reading (all.cpp).
[[nodiscard]] std::span<const LibraryEntry> gpu_libraries();

}  // namespace gpuward::exporter
