// The labels of a Node by which NVIDIA's GPU operator runs its operands there, and the values by
// which programs pause them. The remediator pauses operands for a reset; the exporter releases the
// GPUs if another program has paused them. Used by both programs.
#pragma once

#include <string_view>

namespace gpuward::kube {

// With the name of an operand behind it; the value `true` runs the operand.
inline constexpr std::string_view kDeployLabels = "nvidia.com/gpu.deploy.";
// In the value of an operand that a program has paused: "paused-for-driver-upgrade".
inline constexpr std::string_view kPause = "paused-for-";
// The remediator's value, around its reset Job.
inline constexpr std::string_view kPausedForReset = "paused-for-gpuward-reset";

}  // namespace gpuward::kube
