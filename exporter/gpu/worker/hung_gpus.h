// GPUs whose driver calls have not come back. The worker leaves them out, so that it goes on
// reading the others, and a probe asks each of them from time to time. Pure: time comes in. Used by
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
  // So many may be blamed without an answer in between. Where more hang, the driver as a whole
  // does, and to leave out one GPU after the other would not help.
  static constexpr int kMostInARow = 2;

  // A worker has hung at `progress`. True where that names a GPU, which is left out from now on;
  // `last` is the newest report, or null.
  bool blame(std::string_view progress, std::string fault, const GpuReport* last,
             Clock::Steady now);
  // A worker that was started with flags() has answered: says in its report who it is that was left
  // out, and why. False where the GPUs are no longer those that were there: then none is left out
  // any more, and the report may speak of the wrong one.
  [[nodiscard]] bool fill_in(GpuReport& report);
  // Of the next worker.
  [[nodiscard]] std::vector<std::string> flags() const;

  // Which GPU a probe is to ask now.
  [[nodiscard]] std::optional<GpuName> due(Clock::Steady now,
                                           std::chrono::milliseconds interval) const;
  [[nodiscard]] Clock::Steady next_probe(std::chrono::milliseconds interval) const;
  // How the probe of that GPU has ended; one that has answered is no longer left out.
  void probed(const GpuName& name, bool has_answered, Clock::Steady now);

 private:
  struct HungGpu {
    Gpu gpu;  // index -1: not known
    bool knows_vendor = false;
    std::string fault;
    Clock::Steady asked_at;                 // last, to no avail
    unsigned pauses = 0;                    // so far
    bool is_left_out = true;                // else it has come back
    std::optional<std::size_t> count = {};  // of the vendor's GPUs
  };
  [[nodiscard]] static Clock::Steady due_at(const HungGpu& hung,
                                            std::chrono::milliseconds interval);
  bool take(HungGpu& hung, VendorReading& vendor) const;
  // Whose it is, where it hung before any report has said so.
  static void learn_vendor(HungGpu& hung, const GpuReport& report);

  std::vector<HungGpu> gpus_;
  int in_a_row_ = 0;  // blamed since the last answer
  // False once a report has shown other GPUs than the last one that was taken.
  bool knows_count_ = true;
};

}  // namespace gpuward::exporter
