// The keys that a preset writes on a Node, and how the writers of one Node find out whose names are
// in use there (CONTRACTS A to C and E). Used by the node publisher, the sweep and the quarantine;
// the admission policy in manifests/exporter-admission.yaml has the same keys.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/kube/node_names.h"
#include "core/kube/objects.h"
#include "core/model/severity.h"
#include "exporter/publish/node/node_settings.h"

namespace gpuward::exporter {

// The preset with which the exporter last wrote the names of core/kube/node_names on this node:
// "gpuward" or "aws-samples". If it is missing, names under the suite's prefix are the suite's own.
inline constexpr std::string_view kPresetAnnotation = "gpuward.dev/preset";
inline constexpr std::string_view kFaultyTaintKey = "trainy.konduktor.ai/faulty";

// `metricsexporter.amd.com.gpu.<id>.state=unhealthy`; a healthy GPU has no label.
inline constexpr std::string_view kAmdGpuLabelPrefix = "metricsexporter.amd.com.gpu.";
inline constexpr std::string_view kAmdGpuLabelSuffix = ".state";
inline constexpr std::string_view kAmdUnhealthy = "unhealthy";

// The value of the status label after the exporter has stopped.
inline constexpr std::string_view kAgentStopped = "agent-stopped";

[[nodiscard]] kube::Taint unhealthy_taint(const NodeNames& names);    // …/unhealthy=true
[[nodiscard]] kube::Taint maintenance_taint(const NodeNames& names);  // …/maintenance=sweep

// Returns the suite's names for kAwsSamples, gpuward's for all other presets.
[[nodiscard]] const NodeNames& names_of(NodePreset preset);
// Returns the preset in the node's annotation; nullopt without it.
[[nodiscard]] std::optional<NodePreset> preset_on(const kube::Node& node);
// Returns the names that a sweep and a quarantine write on the node: those of its exporter.
[[nodiscard]] const NodeNames& names_on(const kube::Node& node);

[[nodiscard]] bool has_taint(const kube::Node& node, const kube::Taint& taint);  // key and effect

// Returns PASS, MONITOR, RESET, REBOOT or ISOLATE: the severities on a node.
[[nodiscard]] std::string_view severity_word(Severity severity);
// Returns `2026-11-21T080456Z`, because a label value must not contain a colon.
[[nodiscard]] std::string compact_time(kube::WallTime time);

// The keys that a preset writes with these switches.
struct NodeKeys {
  NodePreset preset = NodePreset::kNone;
  bool has_labels = false;       // status, severity, last-check
  bool has_annotations = false;  // results, findings
  bool has_gpu_labels = false;   // AMD's
  bool has_condition = false;
  bool has_events = false;
  std::optional<kube::Taint> taint;

  [[nodiscard]] const NodeNames& names() const { return names_of(preset); }
  // Returns whether the exporter writes anything under the names.
  [[nodiscard]] bool has_names() const;
};

[[nodiscard]] NodeKeys keys_of(const NodeSettings& settings);

// Returns whether a key is a label that AMD's exporter gives to an unhealthy GPU.
[[nodiscard]] bool is_amd_gpu_label(std::string_view key);

}  // namespace gpuward::exporter
