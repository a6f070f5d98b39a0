#include "exporter/publish/node/diagnosis.h"

#include <algorithm>
#include <array>
#include <utility>

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

constexpr std::string_view kQuarantine = "quarantine";

struct Suite {
  NodeName annotation;
  std::string_view name;
};

constexpr std::array kSuites{Suite{NodeName::kSweepResult, "sweep"},
                             Suite{NodeName::kQuarantineResult, kQuarantine}};

std::optional<Diagnosis> read(const kube::Node& node, const NodeNames& names, const Suite& suite) {
  const auto found = node.meta.annotations.find(names(suite.annotation));
  if (found == node.meta.annotations.end()) return std::nullopt;
  return parse_diagnosis(found->second, suite.name);
}

}  // namespace

std::optional<Diagnosis> parse_diagnosis(std::string_view annotation, std::string_view suite) {
  const auto json = parse_json(annotation, kDiagnosisLimits);
  if (!json) return std::nullopt;
  const auto when = parse_rfc3339(string_at(*json, "timestamp"));
  const auto status = parse_status(string_at(*json, "status"));
  const auto severity = parse_severity(string_at(*json, "severity"));
  if (!when || !status || !severity) return std::nullopt;
  // The replaced suite writes quarantine-result too, but without `next`, and never sweep-result.
  if (suite == kQuarantine && string_at(*json, "next").empty()) return std::nullopt;
  return Diagnosis{*when, *status, *severity, std::string(suite)};
}

std::optional<Diagnosis> newest_diagnosis(const kube::Node& node) {
  std::optional<Diagnosis> newest;
  for (const Suite& suite : kSuites) {
    for (const NodeNames& names : kAllNodeNames) {
      auto one = read(node, names, suite);
      if (!one || one->status == NodeStatus::kWarn) continue;
      if (!newest || one->when >= newest->when) newest = std::move(one);
    }
  }
  return newest;
}

bool has_failed_diagnosis(const kube::Node& node) {
  return std::ranges::any_of(kSuites, [&](const Suite& suite) {
    return std::ranges::any_of(kAllNodeNames, [&](const NodeNames& names) {
      const auto one = read(node, names, suite);
      return one && one->status == NodeStatus::kFail;
    });
  });
}

void move_diagnoses(const kube::Node& node, const NodeNames& from, const NodeNames& to,
                    kube::NodeChange& change) {
  for (const Suite& suite : kSuites) {
    const auto left = read(node, from, suite);
    const auto here = read(node, to, suite);
    if (left && (!here || left->when > here->when))
      change.set_annotations.emplace(to(suite.annotation),
                                     node.meta.annotations.at(from(suite.annotation)));
    change.remove_annotations.push_back(from(suite.annotation));
  }
  if (const WallTime swept = last_sweep(node); swept != WallTime{})
    change.set_annotations.emplace(to(NodeName::kLastSweep), to_rfc3339(swept));
  change.remove_annotations.push_back(from(NodeName::kLastSweep));
}

WallTime last_sweep(const kube::Node& node) {
  WallTime newest{};
  for (const NodeNames& names : kAllNodeNames) {
    const auto found = node.meta.annotations.find(names(NodeName::kLastSweep));
    if (found == node.meta.annotations.end()) continue;
    newest = std::max(newest, parse_rfc3339(found->second).value_or(WallTime{}));
  }
  return newest;
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
                   " at " + to_rfc3339(diagnosis->when) + " failed";
  }
  wish.status = NodeStatus::kFail;
  wish.severity = std::max(wish.severity, diagnosis->severity);
  wish.taint = TaintWish::kSet;
  return wish;
}

}  // namespace gpuward::exporter
