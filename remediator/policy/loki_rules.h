// The lines in Loki that gpuward reads, and the meaning of pods' lines. The Xid catalogue gives the
// meaning of kernel lines. Pure values; read from YAML by read_loki_rules(), used by
// inbox/sources/loki_source.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/severity.h"
#include "core/runtime/yaml.h"

namespace gpuward::remediator {

// A rule for lines of a pod that contain this text.
struct PodLineRule {
  std::string contains;
  Severity severity = Severity::kReset;
};

struct LokiRules {
  std::string kernel_selector = R"({k8s_daemonset_name="dmesg"})";
  std::string kernel_filter =
      "(?i)(NVRM: (xid|GPU |The NVIDIA GPU |fallen )|SXid|nvidia-peermem)";  // RE2
  std::string node_label = "k8s_node_name";
  std::string namespace_label = "k8s_namespace_name";
  std::vector<PodLineRule> pod_lines = {{"invalid device ordinal", Severity::kReset}};
  std::chrono::milliseconds every{5'000};
  std::chrono::milliseconds overlap{120'000};
  std::chrono::milliseconds quiet_for{900'000};
  bool konduktor_taint = false;
  bool is_configured = false;  // The policy has the section `loki`.
};

// Prefix of the fingerprints of findings from Loki. There is one fingerprint per node and code.
inline constexpr std::string_view kLokiOrigin = "loki.";

// Reads the section `loki`; docs/configuration.md has its keys. Faults are reported to the file.
[[nodiscard]] LokiRules read_loki_rules(const YamlMap& section);

}  // namespace gpuward::remediator
