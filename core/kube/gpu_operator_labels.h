// The Node labels by which NVIDIA's GPU operator deploys its operands, and the values by which
// programs pause them. The remediator pauses operands for a reset; the exporter releases the GPUs
// if another program has paused them. Used by both programs.
#pragma once

#include <string_view>

namespace gpuward::kube {

// The prefix of an operand's label; the value `true` deploys the operand.
inline constexpr std::string_view kDeployLabels = "nvidia.com/gpu.deploy.";
// The prefix of the value for an operand that a program has paused: "paused-for-driver-upgrade".
inline constexpr std::string_view kPause = "paused-for-";
// The remediator's value while its reset Job runs.
inline constexpr std::string_view kPausedForReset = "paused-for-gpuward-reset";

}  // namespace gpuward::kube
