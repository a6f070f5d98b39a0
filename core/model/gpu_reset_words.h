// The messages that say why no GPU was reset: those of the vendors' programs and those of
// `gpuward-exporter gpu-reset`. The exporter's command and the remediator's step read them.
#pragma once

#include <string_view>

namespace gpuward {

inline constexpr std::string_view kInUse = "in use by another process";
inline constexpr std::string_view kStoppedBefore = "stopped before the reset";
inline constexpr std::string_view kStoppedWhile = "stopped during the reset";
inline constexpr std::string_view kBootedSince =
    "the machine has booted since the reset was ordered";

// The messages of nvidia-smi --gpu-reset: "GPU 00000000:F9:00.0: In use by another client", "4
// devices are currently being used by one or more other processes (e.g., Fabric Manager, ...)".
// AMD's tools do not check for users: gpuward does and writes kInUse.
[[nodiscard]] constexpr bool says_in_use(std::string_view words) {
  return words.contains("In use by another client") || words.contains(kInUse) ||
         words.contains("by one or more other processes");
}

}  // namespace gpuward
