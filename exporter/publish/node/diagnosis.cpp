#include "exporter/publish/node/diagnosis.h"

#include <algorithm>

#include "core/runtime/clock.h"
#include "core/runtime/json.h"
#include "exporter/publish/node/condition_text.h"
#include "exporter/publish/node/node_keys.h"

namespace gpuward::exporter {
namespace {

constexpr JsonLimits kDiagnosisLimits{.max_bytes = 8192, .max_depth = 4, .max_values = 64};

std::optional<NodeStatus> parse_status(std::string_view text) {
  for (const NodeStatus status : {NodeStatus::kPass, NodeStatus::kWarn, NodeStatus::kFail}) {
    if (to_string(status) == text) return status;
  }
  return std::nullopt;
}

std::optional<Diagnosis> read(const kube::Node& node, std::string_view key,
                              std::string_view suite) {
  const auto found = node.meta.annotations.find(std::string(key));
  if (found == node.meta.annotations.end()) return std::nullopt;
  return parse_diagnosis(found->second, suite);
}

}  // namespace

std::optional<Diagnosis> parse_diagnosis(std::string_view annotation, std::string_view suite) {
  const auto json = parse_json(annotation, kDiagnosisLimits);
  if (!json) return std::nullopt;
  const auto when = parse_rfc3339(string_at(*json, "timestamp"));
  const auto status = parse_status(string_at(*json, "status"));
  const auto severity = parse_severity(string_at(*json, "severity"));
  if (!when || !status || !severity) return std::nullopt;
  return Diagnosis{*when, *status, *severity, std::string(suite)};
}

std::optional<Diagnosis> newest_diagnosis(const kube::Node& node) {
  auto sweep = read(node, kSweepResultAnnotation, "sweep");
  auto quarantine = read(node, kQuarantineResultAnnotation, "quarantine");
  if (!sweep) return quarantine;
  if (!quarantine) return sweep;
  return quarantine->when >= sweep->when ? quarantine : sweep;
}

NodeWish with_diagnosis(NodeWish wish, const kube::Node& node) {
  const auto diagnosis = newest_diagnosis(node);
  if (!diagnosis || diagnosis->status != NodeStatus::kFail ||
      diagnosis->severity < Severity::kReset || wish.last_diagnostic_pass > diagnosis->when) {
    return wish;
  }
  if (wish.condition != "True") {
    wish.condition = "True";
    wish.reason = kGpusAreDown;
    wish.message = std::string(severity_word(diagnosis->severity)) + ": the " + diagnosis->suite +
                   " of " + to_rfc3339(diagnosis->when) + " has failed";
  }
  wish.status = NodeStatus::kFail;
  wish.severity = std::max(wish.severity, diagnosis->severity);
  wish.taint = TaintWish::kSet;
  return wish;
}

}  // namespace gpuward::exporter
