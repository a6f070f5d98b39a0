// GPUs that hang in a driver call. The worker skips them, so that it can read the others, and a
// probe reads each of them from time to time. Pure: the caller passes the time. Used by
// WorkerSource.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/runtime/clock.h"
#include "exporter/gpu/report/gpu_choice.h"
#include "exporter/gpu/report/reading.h"

namespace gpuward::exporter {

class HungGpus {
 public:
  // The most GPUs that may be blamed without a report in between. If more hang, the whole driver
  // does, and skipping one GPU after the other would not help.
  static constexpr int kMostInARow = 2;

  // A worker has hung at `progress`. Returns true if that names a GPU, which is skipped from now
  // on; `last` is the newest report, or null.
  bool blame(std::string_view progress, std::string fault, const GpuReport* last,
             Clock::Steady now);
  // A worker that was started with flags() has sent a report: adds the skipped GPUs and the
  // reasons. Returns false if the GPUs have changed: then none is skipped any more, and the report
  // may be about the wrong one.
  [[nodiscard]] bool fill_in(GpuReport& report);
  // Returns the flags for the next worker.
  [[nodiscard]] std::vector<std::string> flags() const;

  // Returns the GPU that a probe should read now.
  [[nodiscard]] std::optional<GpuName> due(Clock::Steady now,
                                           std::chrono::milliseconds interval) const;
  [[nodiscard]] Clock::Steady next_probe(std::chrono::milliseconds interval) const;
  // Records the result of the probe of that GPU; after a response it is no longer skipped.
  void probed(const GpuName& name, bool has_answered, Clock::Steady now);

 private:
  struct HungGpu {
    Gpu gpu;  // index -1: unknown
    bool knows_vendor = false;
    std::string fault;
    Clock::Steady asked_at;                 // the last try, without a response
    unsigned pauses = 0;                    // so far
    bool is_left_out = true;                // else it has recovered
    std::optional<std::size_t> count = {};  // of the vendor's GPUs
  };
  [[nodiscard]] static Clock::Steady due_at(const HungGpu& hung,
                                            std::chrono::milliseconds interval);
  bool take(HungGpu& hung, VendorReading& vendor) const;
  // Finds the vendor of a GPU that hung before any report.
  static void learn_vendor(HungGpu& hung, const GpuReport& report);

  std::vector<HungGpu> gpus_;
  int in_a_row_ = 0;  // blamed since the last answer
  // False after a report with other GPUs than in the last accepted report.
  bool knows_count_ = true;
};

}  // namespace gpuward::exporter
