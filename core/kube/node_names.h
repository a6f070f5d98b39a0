// The names under which an exporter writes its state on its Node. It writes each once, under the
// prefix of its preset. Readers look under every prefix, because the nodes of a cluster may differ;
// manifests/exporter-admission.yaml lists the same names. Used by both programs.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace gpuward {

enum class NodeName : std::uint8_t {
  kStatus,
  kSeverity,
  kLastCheck,
  kMode,        // "quarantine" during one
  kTargetNode,  // of the Jobs of a sweep or a quarantine
  kResults,
  kSweepResult,
  kLastSweep,  // when a sweep last took the node, with any result
  kQuarantineResult,
  kMaintenanceClaim,  // the owner of the maintenance taint, and its expiry
  kQuarantineClaim,   // the same for the mode label
  kUnhealthy,
  kMaintenance
};

enum class NodeNameKind : std::uint8_t { kLabel, kJobLabel, kAnnotation, kTaint };

struct NodeNameEntry {
  NodeName name;
  NodeNameKind kind;
  std::string_view text;
};

// Indexed by NodeName.
inline constexpr std::array<NodeNameEntry, 13> kNodeNames{{
    {NodeName::kStatus, NodeNameKind::kLabel, "status"},
    {NodeName::kSeverity, NodeNameKind::kLabel, "severity"},
    {NodeName::kLastCheck, NodeNameKind::kLabel, "last-check"},
    {NodeName::kMode, NodeNameKind::kLabel, "mode"},
    {NodeName::kTargetNode, NodeNameKind::kJobLabel, "target-node"},
    {NodeName::kResults, NodeNameKind::kAnnotation, "results"},
    {NodeName::kSweepResult, NodeNameKind::kAnnotation, "sweep-result"},
    {NodeName::kLastSweep, NodeNameKind::kAnnotation, "last-sweep"},
    {NodeName::kQuarantineResult, NodeNameKind::kAnnotation, "quarantine-result"},
    {NodeName::kMaintenanceClaim, NodeNameKind::kAnnotation, "maintenance-claim"},
    {NodeName::kQuarantineClaim, NodeNameKind::kAnnotation, "quarantine-claim"},
    {NodeName::kUnhealthy, NodeNameKind::kTaint, "unhealthy"},
    {NodeName::kMaintenance, NodeNameKind::kTaint, "maintenance"},
}};

// The names under one prefix.
class NodeNames {
 public:
  explicit constexpr NodeNames(std::string_view prefix) : prefix_(prefix) {}

  // "gpuward.dev/status".
  [[nodiscard]] std::string operator()(NodeName name) const {
    std::string key(prefix_);
    return key += text_of(name);
  }
  // Compares without making a string, for loops over all nodes.
  [[nodiscard]] constexpr bool is(std::string_view key, NodeName name) const {
    return key.starts_with(prefix_) && key.substr(prefix_.size()) == text_of(name);
  }

  friend bool operator==(const NodeNames&, const NodeNames&) = default;

 private:
  [[nodiscard]] static constexpr std::string_view text_of(NodeName name) {
    return kNodeNames[static_cast<std::size_t>(name)].text;
  }

  std::string_view prefix_;
};

inline constexpr NodeNames kGpuwardNames("gpuward.dev/");
// The names of AWS' GPU health check suite.
inline constexpr NodeNames kAwsSamplesNames("gpu-healthcheck.aws-samples.io/");
inline constexpr std::array kAllNodeNames{kGpuwardNames, kAwsSamplesNames};

// Whether the key has this name under either prefix.
[[nodiscard]] constexpr bool is_node_key(std::string_view key, NodeName name) {
  return std::ranges::any_of(kAllNodeNames,
                             [&](const NodeNames& names) { return names.is(key, name); });
}

}  // namespace gpuward
