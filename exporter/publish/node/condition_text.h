// The messages of the condition GPUProblem, which kubectl describe node shows. The reasons are
// those of the node-problem-detector configuration that gpuward replaces, plus a third one for
// "cannot tell", which that configuration reports as GPUsAreUp. Pure; used by wish_of() and for
// Events.
#pragma once

#include <string>
#include <string_view>

#include "exporter/store/store.h"

namespace gpuward::exporter {

inline constexpr std::string_view kGpusAreUp = "GPUsAreUp";
inline constexpr std::string_view kGpusAreDown = "GPUsAreDown";
inline constexpr std::string_view kGpusUnknown = "GPUsUnknown";

// Returns "REBOOT: xid 79 on 0000:4e:00 (GPU 3): GPU has fallen off the bus".
[[nodiscard]] std::string describe(const Snapshot& snapshot, const Finding& finding);
// Returns the three worst findings, then "; 2 more". At most 1 KiB.
[[nodiscard]] std::string broken_message(const Snapshot& snapshot);
// Returns a finding from an earlier boot whose check has not examined it again since; or null.
[[nodiscard]] const Finding* unchecked_finding(const State& state);
// Returns true if another program has the GPUs, or the driver has not been read since the release.
[[nodiscard]] bool is_released(const Snapshot& snapshot);
// Returns which check was inconclusive and why, which check has not run again, or that no GPU is
// known.
[[nodiscard]] std::string untold_message(const Snapshot& snapshot);
[[nodiscard]] std::string well_message(const Snapshot& snapshot);

}  // namespace gpuward::exporter
