// What the condition GPUProblem says to people: kubectl describe node shows it. Reasons are those
// of the node-problem-detector configuration that gpuward replaces; a third one for "cannot tell",
// which there read GPUsAreUp. Pure; used by wish_of() and for Events.
#pragma once

#include <string>
#include <string_view>

#include "exporter/store/store.h"

namespace gpuward::exporter {

inline constexpr std::string_view kGpusAreUp = "GPUsAreUp";
inline constexpr std::string_view kGpusAreDown = "GPUsAreDown";
inline constexpr std::string_view kGpusUnknown = "GPUsUnknown";

// "REBOOT: xid 79 on 0000:4e:00 (GPU 3): GPU has fallen off the bus".
[[nodiscard]] std::string describe(const Snapshot& snapshot, const Finding& finding);
// The three worst of them, then "; 2 more". At most 1 KiB.
[[nodiscard]] std::string broken_message(const Snapshot& snapshot);
// The finding of a check in an earlier boot that none of its runs has looked at since; or null.
[[nodiscard]] const Finding* unchecked_finding(const State& state);
// Another program has the GPUs, or the driver has not been read since it had them.
[[nodiscard]] bool is_released(const Snapshot& snapshot);
// Which check could not tell, and why; or which has not looked again, or that no GPU is known.
[[nodiscard]] std::string untold_message(const Snapshot& snapshot);
[[nodiscard]] std::string well_message(const Snapshot& snapshot);

}  // namespace gpuward::exporter
