#include "exporter/gpu/worker/opened_libraries.h"

namespace gpuward::exporter {

bool OpenedLibraries::take(const GpuReport& report) {
  is_unusable_ = false;
  bool has_all = true;
  for (const Vendor vendor : {Vendor::kNvidia, Vendor::kAmd}) {
    const VendorReading* const reading = report.find(vendor);
    const LibraryState state = reading == nullptr ? LibraryState::kAbsent : reading->state;
    if (state == LibraryState::kReady) ready_.insert(vendor);
    is_unusable_ |= state == LibraryState::kUnusable;
    has_all &= state == LibraryState::kReady || !ready_.contains(vendor);
  }
  return has_all;
}

}  // namespace gpuward::exporter
