// What a preset writes on a Node, and what tells the writers of one Node whose names are in use
// there (CONTRACTS A to C and E). Used by the node publisher, the sweep and the quarantine; the
// admission policy in manifests/exporter-admission.yaml knows the same keys.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/kube/node_names.h"
#include "core/kube/objects.h"
#include "core/model/severity.h"
#include "exporter/publish/node/node_settings.h"

namespace gpuward::exporter {

// With which preset the exporter has last written the names of core/kube/node_names on this node:
// "gpuward" or "aws-samples". Without it such names under the suite's prefix are the suite's own.
inline constexpr std::string_view kPresetAnnotation = "gpuward.dev/preset";
inline constexpr std::string_view kFaultyTaintKey = "trainy.konduktor.ai/faulty";

// `metricsexporter.amd.com.gpu.<id>.state=unhealthy`; a healthy GPU has no label.
inline constexpr std::string_view kAmdGpuLabelPrefix = "metricsexporter.amd.com.gpu.";
inline constexpr std::string_view kAmdGpuLabelSuffix = ".state";
inline constexpr std::string_view kAmdUnhealthy = "unhealthy";

// The status label after the exporter's end.
inline constexpr std::string_view kAgentStopped = "agent-stopped";

[[nodiscard]] kube::Taint unhealthy_taint(const NodeNames& names);    // …/unhealthy=true
[[nodiscard]] kube::Taint maintenance_taint(const NodeNames& names);  // …/maintenance=sweep

// The suite's for kAwsSamples, gpuward's for all others.
[[nodiscard]] const NodeNames& names_of(NodePreset preset);
// As the annotation of the node says; nullopt without it.
[[nodiscard]] std::optional<NodePreset> preset_on(const kube::Node& node);
// Those that a sweep and a quarantine write on the node: the names of its exporter.
[[nodiscard]] const NodeNames& names_on(const kube::Node& node);

[[nodiscard]] bool has_taint(const kube::Node& node, const kube::Taint& taint);  // key and effect

// PASS, MONITOR, RESET, REBOOT, ISOLATE: how severities are written on a node.
[[nodiscard]] std::string_view severity_word(Severity severity);
// `2026-11-21T080456Z`: a label's value holds no colon.
[[nodiscard]] std::string compact_time(kube::WallTime time);

// What a preset with its switches writes.
struct NodeKeys {
  NodePreset preset = NodePreset::kNone;
  bool has_labels = false;       // status, severity, last-check
  bool has_annotations = false;  // results, findings
  bool has_gpu_labels = false;   // AMD's
  bool has_condition = false;
  bool has_events = false;
  std::optional<kube::Taint> taint;

  [[nodiscard]] const NodeNames& names() const { return names_of(preset); }
  // Whether anything is written under them.
  [[nodiscard]] bool has_names() const;
};

[[nodiscard]] NodeKeys keys_of(const NodeSettings& settings);

// Whether a key is a label that AMD's exporter gives to an unhealthy GPU.
[[nodiscard]] bool is_amd_gpu_label(std::string_view key);

}  // namespace gpuward::exporter
