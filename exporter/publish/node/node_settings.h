// What the exporter may write to its own node. Filled by the exporter's settings (node: in the YAML
// file, ENABLE_LABEL and ENABLE_TAINT of the replaced suite).
#pragma once

#include <cstdint>
#include <string_view>

namespace gpuward::exporter {

inline constexpr std::string_view kConditionType = "GPUProblem";

// Whose keys are used: gpuward's (labels, taint, annotations), the same under the prefix of AWS'
// health check suite, konduktor's taint, AMD's label for each GPU, or none at all. A taint key has
// one writer: kAwsSamples is not for clusters where that suite runs, kKonduktor not for those where
// gpuward-remediator's Loki source or konduktor itself writes that taint, kAmd not for nodes where
// AMD's own exporter runs.
enum class NodePreset : std::uint8_t { kGpuward, kAwsSamples, kKonduktor, kAmd, kNone };

// "gpuward", "aws-samples", "konduktor", "amd", "none".
[[nodiscard]] constexpr std::string_view to_string(NodePreset preset) {
  constexpr std::string_view kNames[] = {"gpuward", "aws-samples", "konduktor", "amd", "none"};
  return kNames[static_cast<std::size_t>(preset)];
}

// What a node is of which no check could tell anything. kFails (fail, RESET) is the seed profile.
enum class UntoldNode : std::uint8_t { kWarns, kFails };

struct NodeSettings {
  NodePreset preset = NodePreset::kGpuward;
  bool writes_labels = true;
  bool writes_taint = true;
  bool writes_annotation = true;
  bool writes_condition = true;  // kConditionType
  bool writes_events = true;     // when findings come and go
  UntoldNode untold_node = UntoldNode::kWarns;
  bool operator==(const NodeSettings&) const = default;
};

}  // namespace gpuward::exporter
