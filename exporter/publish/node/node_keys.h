// The names under which a node says how it is, of gpuward and of the systems that it replaces
// (CONTRACTS A to C and E). Used by the node publisher, the sweep and the quarantine; the admission
// policy in manifests/exporter-admission.yaml knows the same ones.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/kube/objects.h"
#include "core/model/severity.h"
#include "exporter/publish/node/node_settings.h"

namespace gpuward::exporter {

inline constexpr std::string_view kStatusLabel = "gpu-healthcheck.aws-samples.io/status";
inline constexpr std::string_view kSeverityLabel = "gpu-healthcheck.aws-samples.io/severity";
inline constexpr std::string_view kLastCheckLabel = "gpu-healthcheck.aws-samples.io/last-check";
inline constexpr std::string_view kModeLabel = "gpu-healthcheck.aws-samples.io/mode";
inline constexpr std::string_view kTargetNodeLabel = "gpu-healthcheck.aws-samples.io/target-node";
inline constexpr std::string_view kResultsAnnotation = "gpu-healthcheck.aws-samples.io/results";
inline constexpr std::string_view kSweepResultAnnotation =
    "gpu-healthcheck.aws-samples.io/sweep-result";
// When a sweep last took the node, whatever came of it.
inline constexpr std::string_view kLastSweepAnnotation =
    "gpu-healthcheck.aws-samples.io/last-sweep";
inline constexpr std::string_view kQuarantineResultAnnotation =
    "gpu-healthcheck.aws-samples.io/quarantine-result";
// Whose the maintenance taint and the mode label are, and until when (claim.h).
inline constexpr std::string_view kMaintenanceClaim =
    "gpu-healthcheck.aws-samples.io/maintenance-claim";
inline constexpr std::string_view kQuarantineClaim =
    "gpu-healthcheck.aws-samples.io/quarantine-claim";

inline constexpr std::string_view kUnhealthyTaintKey = "gpu-healthcheck.aws-samples.io/unhealthy";
inline constexpr std::string_view kMaintenanceTaintKey =
    "gpu-healthcheck.aws-samples.io/maintenance";
inline constexpr std::string_view kFaultyTaintKey = "trainy.konduktor.ai/faulty";

inline constexpr std::string_view kConditionType = "GPUProblem";
// `metricsexporter.amd.com.gpu.<id>.state=unhealthy`; a healthy GPU has no label.
inline constexpr std::string_view kAmdGpuLabelPrefix = "metricsexporter.amd.com.gpu.";
inline constexpr std::string_view kAmdGpuLabelSuffix = ".state";
inline constexpr std::string_view kAmdUnhealthy = "unhealthy";

[[nodiscard]] kube::Taint unhealthy_taint();    // gpu-healthcheck.aws-samples.io/unhealthy=true
[[nodiscard]] kube::Taint maintenance_taint();  // gpu-healthcheck.aws-samples.io/maintenance=sweep

// PASS, MONITOR, RESET, REBOOT, ISOLATE: how severities are written on a node.
[[nodiscard]] std::string_view severity_word(Severity severity);
// `2026-11-21T080456Z`: a label's value holds no colon.
[[nodiscard]] std::string compact_time(kube::WallTime time);

// What a preset with its switches writes.
struct NodeKeys {
  bool has_suite_labels = false;      // status, severity, last-check
  bool has_suite_annotation = false;  // results
  bool has_gpu_labels = false;        // AMD's
  bool has_condition = false;
  bool has_events = false;
  std::optional<kube::Taint> taint;
};

[[nodiscard]] NodeKeys keys_of(const NodeSettings& settings);

// Whether a key is a label that AMD's exporter gives to an unhealthy GPU.
[[nodiscard]] bool is_amd_gpu_label(std::string_view key);

}  // namespace gpuward::exporter
