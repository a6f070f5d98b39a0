#include "exporter/publish/node/node_keys.h"

#include <algorithm>

#include "core/runtime/clock.h"

namespace gpuward::exporter {
namespace {

constexpr const char* kNoSchedule = "NoSchedule";

}  // namespace

kube::Taint unhealthy_taint() { return {std::string(kUnhealthyTaintKey), "true", kNoSchedule, ""}; }

kube::Taint maintenance_taint() {
  return {std::string(kMaintenanceTaintKey), "sweep", kNoSchedule, ""};
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
  keys.has_condition = settings.writes_condition;
  keys.has_events = settings.writes_events;
  switch (settings.preset) {
    case NodePreset::kAwsSamples:
      keys.has_suite_labels = settings.writes_labels;
      keys.has_suite_annotation = settings.writes_annotation;
      if (settings.writes_taint) keys.taint = unhealthy_taint();
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

bool is_amd_gpu_label(std::string_view key) {
  return key.starts_with(kAmdGpuLabelPrefix) && key.ends_with(kAmdGpuLabelSuffix) &&
         key.size() > kAmdGpuLabelPrefix.size() + kAmdGpuLabelSuffix.size();
}

}  // namespace gpuward::exporter
