// The writes of the exporter to its own node. Filled from the exporter's settings (node: in the
// YAML file, ENABLE_LABEL and ENABLE_TAINT of the replaced suite).
#pragma once

#include <cstdint>
#include <string_view>

namespace gpuward::exporter {

inline constexpr std::string_view kConditionType = "GPUProblem";

// The keys in use: gpuward's (labels, taint, annotations), the same under the prefix of AWS' health
// check suite, konduktor's taint, AMD's label for each GPU, or none at all. A taint key has one
// writer: kAwsSamples is not for clusters with that suite, kKonduktor not for those in which
// gpuward-remediator's Loki source or konduktor itself writes that taint, kAmd not for nodes with
// AMD's own exporter.
enum class NodePreset : std::uint8_t { kGpuward, kAwsSamples, kKonduktor, kAmd, kNone };

// "gpuward", "aws-samples", "konduktor", "amd", "none".
[[nodiscard]] constexpr std::string_view to_string(NodePreset preset) {
  constexpr std::string_view kNames[] = {"gpuward", "aws-samples", "konduktor", "amd", "none"};
  return kNames[static_cast<std::size_t>(preset)];
}

// The status of a node if all checks are inconclusive. kFails (fail, RESET) is the seed profile.
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
