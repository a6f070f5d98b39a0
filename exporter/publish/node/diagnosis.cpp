#include "exporter/publish/node/diagnosis.h"

#include <algorithm>
#include <array>
#include <chrono>
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

// Clocks of nodes differ by less.
constexpr std::chrono::minutes kMostClockSkew{5};

struct Suite {
  NodeName annotation;
  std::string_view name;
};

constexpr Suite kSweep{NodeName::kSweepResult, "sweep"};
constexpr Suite kQuarantine{NodeName::kQuarantineResult, "quarantine"};
constexpr std::array kSuites{kSweep, kQuarantine};

std::optional<Diagnosis> read(const kube::Node& node, const NodeNames& names, const Suite& suite) {
  const auto found = node.meta.annotations.find(names(suite.annotation));
  if (found == node.meta.annotations.end()) return std::nullopt;
  return parse_diagnosis(found->second, suite.name);
}

// The newest pass or failure of the suite.
std::optional<Diagnosis> newest(const kube::Node& node, const Suite& suite, WallTime now) {
  std::optional<Diagnosis> newest;
  for (const NodeNames& names : kAllNodeNames) {
    auto one = read(node, names, suite);
    if (!one || one->status == NodeStatus::kWarn || one->when > now + kMostClockSkew) continue;
    if (!newest || one->when >= newest->when) newest = std::move(one);
  }
  return newest;
}

// The newest time of a sweep that is not after `latest`, or the epoch.
WallTime newest_sweep(const kube::Node& node, WallTime latest) {
  WallTime newest{};
  for (const NodeNames& names : kAllNodeNames) {
    const auto found = node.meta.annotations.find(names(NodeName::kLastSweep));
    if (found == node.meta.annotations.end()) continue;
    const WallTime when = parse_rfc3339(found->second).value_or(WallTime{});
    if (when <= latest) newest = std::max(newest, when);
  }
  return newest;
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
  if (suite == kQuarantine.name && string_at(*json, "next").empty()) return std::nullopt;
  return Diagnosis{*when, *status, *severity, std::string(suite)};
}

std::vector<Diagnosis> lasting_failures(const kube::Node& node, WallTime now) {
  const auto sweep = newest(node, kSweep, now);
  const auto quarantine = newest(node, kQuarantine, now);
  const bool has_sweep_ended = sweep && quarantine && quarantine->status == NodeStatus::kPass &&
                               quarantine->when >= sweep->when;
  std::vector<Diagnosis> failures;
  if (quarantine && quarantine->status == NodeStatus::kFail) failures.push_back(*quarantine);
  if (sweep && sweep->status == NodeStatus::kFail && !has_sweep_ended) failures.push_back(*sweep);
  return failures;
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
  if (const WallTime swept = newest_sweep(node, WallTime::max()); swept != WallTime{})
    change.set_annotations.emplace(to(NodeName::kLastSweep), to_rfc3339(swept));
  change.remove_annotations.push_back(from(NodeName::kLastSweep));
}

WallTime last_sweep(const kube::Node& node, WallTime now) {
  return newest_sweep(node, now + kMostClockSkew);
}

NodeWish with_diagnosis(NodeWish wish, const kube::Node& node, WallTime now) {
  for (const Diagnosis& failure : lasting_failures(node, now)) {
    if (failure.severity < Severity::kReset || wish.last_diagnostic_pass > failure.when) continue;
    if (wish.condition != "True") {
      wish.condition = "True";
      wish.reason = kGpusAreDown;
      wish.message = std::string(severity_word(failure.severity)) + ": the " + failure.suite +
                     " at " + to_rfc3339(failure.when) + " failed";
    }
    wish.status = NodeStatus::kFail;
    wish.severity = std::max(wish.severity, failure.severity);
    wish.taint = TaintWish::kSet;
  }
  return wish;
}

}  // namespace gpuward::exporter
