// The driver libraries that one worker has opened, so that it is replaced when one of them no
// longer works: a library may stay mapped in a process after dlclose (its threads, thread-local
// variables), and its new file cannot be opened in that process. Pure; used by WorkerSource.
#pragma once

#include <set>

#include "exporter/gpu/report/reading.h"

namespace gpuward::exporter {

class OpenedLibraries {
 public:
  // Another process has started.
  void started() { *this = {}; }
  // Returns false if a library that was ready in this worker no longer is: the driver was upgraded
  // or unloaded, and the report comes from the old library.
  [[nodiscard]] bool take(const GpuReport& report);
  // Whether, by the last report, the next one should come from another worker.
  [[nodiscard]] bool may_be_old() const { return is_unusable_; }

 private:
  std::set<Vendor> ready_;
  bool is_unusable_ = false;
};

}  // namespace gpuward::exporter
