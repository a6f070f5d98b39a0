#include "exporter/publish/node/node_keys.h"

#include <algorithm>

#include "core/runtime/clock.h"

namespace gpuward::exporter {
namespace {

constexpr const char* kNoSchedule = "NoSchedule";

}  // namespace

kube::Taint unhealthy_taint(const NodeNames& names) {
  return {names(NodeName::kUnhealthy), "true", kNoSchedule, ""};
}

kube::Taint maintenance_taint(const NodeNames& names) {
  return {names(NodeName::kMaintenance), "sweep", kNoSchedule, ""};
}

const NodeNames& names_of(NodePreset preset) {
  return preset == NodePreset::kAwsSamples ? kAwsSamplesNames : kGpuwardNames;
}

std::optional<NodePreset> preset_on(const kube::Node& node) {
  const auto found = node.meta.annotations.find(std::string(kPresetAnnotation));
  if (found == node.meta.annotations.end()) return std::nullopt;
  for (const NodePreset preset : {NodePreset::kGpuward, NodePreset::kAwsSamples})
    if (to_string(preset) == found->second) return preset;
  return std::nullopt;
}

const NodeNames& names_on(const kube::Node& node) {
  return names_of(preset_on(node).value_or(NodePreset::kGpuward));
}

bool has_taint(const kube::Node& node, const kube::Taint& taint) {
  return std::ranges::any_of(node.taints, [&](const kube::Taint& one) {
    return one.key == taint.key && one.effect == taint.effect;
  });
}

std::string_view severity_word(Severity severity) {
  constexpr std::string_view kWords[] = {"PASS", "MONITOR", "RESET", "REBOOT", "ISOLATE"};
  return kWords[static_cast<std::size_t>(severity)];
}

std::string compact_time(kube::WallTime time) {
  std::string text = to_rfc3339(time);
  std::erase(text, ':');
  return text;
}

NodeKeys keys_of(const NodeSettings& settings) {
  NodeKeys keys;
  keys.preset = settings.preset;
  keys.has_condition = settings.writes_condition;
  keys.has_events = settings.writes_events;
  switch (settings.preset) {
    case NodePreset::kGpuward:
    case NodePreset::kAwsSamples:
      keys.has_labels = settings.writes_labels;
      keys.has_annotations = settings.writes_annotation;
      if (settings.writes_taint) keys.taint = unhealthy_taint(keys.names());
      break;
    case NodePreset::kKonduktor:
      if (settings.writes_taint)
        keys.taint = kube::Taint{std::string(kFaultyTaintKey), "true", kNoSchedule, ""};
      break;
    case NodePreset::kAmd:
      keys.has_gpu_labels = settings.writes_labels;
      break;
    case NodePreset::kNone:
      return {};
  }
  return keys;
}

bool NodeKeys::has_names() const {
  const bool is_ours = preset == NodePreset::kGpuward || preset == NodePreset::kAwsSamples;
  return is_ours && (has_labels || has_annotations || taint);
}

bool is_amd_gpu_label(std::string_view key) {
  return key.starts_with(kAmdGpuLabelPrefix) && key.ends_with(kAmdGpuLabelSuffix) &&
         key.size() > kAmdGpuLabelPrefix.size() + kAmdGpuLabelSuffix.size();
}

}  // namespace gpuward::exporter
