#include "exporter/publish/node/node_change.h"

#include <algorithm>
#include <string>

#include "core/runtime/clock.h"
#include "core/runtime/json.h"
#include "core/runtime/text.h"
#include "exporter/publish/node/claim.h"
#include "exporter/publish/node/node_keys.h"

namespace gpuward::exporter {
namespace {

constexpr std::size_t kMostAnnotationBytes = 8192;
constexpr std::size_t kMostTextBytes = 256;

// As the suite's result files: a check that found nothing has no severity.
Json line_of(const CheckLine& line) {
  const bool is_clean = line.severity == Severity::kNone;
  return {{"check", to_valid_utf8(line.check, kMostTextBytes)},
          {"status", to_upper(to_string(line.status))},
          {"severity", is_clean ? "" : severity_word(line.severity)}};
}

void change_labels(const NodeWish& wish, kube::NodeChange& change) {
  change.set_labels.emplace(kStatusLabel, to_string(wish.status));
  change.set_labels.emplace(kSeverityLabel, severity_word(wish.severity));
  if (wish.last_check != WallTime{})
    change.set_labels.emplace(kLastCheckLabel, compact_time(wish.last_check));
}

void change_gpu_labels(const NodeWish& wish, const kube::Node& seen, kube::NodeChange& change) {
  for (const std::string& index : wish.sick_amd_gpus) {
    std::string key(kAmdGpuLabelPrefix);
    key += index;
    key += kAmdGpuLabelSuffix;
    change.set_labels.emplace(std::move(key), kAmdUnhealthy);
  }
  if (!wish.could_tell) return;
  for (const auto& [key, value] : seen.meta.labels) {
    if (is_amd_gpu_label(key) && !change.set_labels.contains(key))
      change.remove_labels.push_back(key);
  }
}

// Theirs is the suite's prefix, which is all that the account may write.
void change_findings(const NodeWish& wish, kube::NodeChange& change) {
  const std::string key(kFindingsAnnotation);
  if (wish.findings.empty()) {
    change.remove_annotations.push_back(key);
  } else {
    change.set_annotations.emplace(key, node_findings_text(wish.findings));
  }
}

void change_taint(const NodeWish& wish, const kube::Taint& taint, kube::NodeChange& change) {
  switch (wish.taint) {
    case TaintWish::kSet:
      change.set_taints.push_back(taint);
      break;
    case TaintWish::kClear:
      change.remove_taints.push_back(taint);
      break;
    case TaintWish::kLeave:
      break;
  }
}

const kube::NodeCondition* find_condition(const kube::Node& node) {
  const auto found = std::ranges::find(node.conditions, kConditionType, &kube::NodeCondition::type);
  return found == node.conditions.end() ? nullptr : &*found;
}

}  // namespace

kube::NodeChange change_of(const NodeWish& wish, const NodeKeys& keys, const kube::Node& seen,
                           kube::WallTime now) {
  kube::NodeChange change;
  if (wish.status != NodeStatus::kUnknown) {
    if (keys.has_suite_labels) change_labels(wish, change);
    if (keys.has_suite_annotation) {
      change.set_annotations.emplace(kResultsAnnotation, results_annotation(wish, seen.meta.name));
      change_findings(wish, change);
    }
  }
  if (keys.has_gpu_labels) change_gpu_labels(wish, seen, change);
  if (keys.taint) change_taint(wish, *keys.taint, change);
  release_claims(seen, now, {}, change);
  return change;
}

std::optional<kube::NodeCondition> condition_of(const NodeWish& wish, const kube::Node& seen,
                                                kube::WallTime now,
                                                std::chrono::milliseconds heartbeat) {
  kube::NodeCondition wanted{std::string(kConditionType), wish.condition, wish.reason,
                             wish.message};
  const kube::NodeCondition* const before = find_condition(seen);
  if (before == nullptr) return wanted;
  if (wanted.status == "Unknown" && before->status == "True") {
    wanted = *before;  // only its heart beats
  }
  const bool is_same = before->status == wanted.status && before->reason == wanted.reason &&
                       before->message == wanted.message;
  const bool is_fresh = before->heartbeat && now - *before->heartbeat < heartbeat;
  if (is_same && is_fresh) return std::nullopt;
  return wanted;
}

std::string results_annotation(const NodeWish& wish, std::string_view node_name) {
  Json checks = Json::array();
  for (const CheckLine& line : wish.checks) checks.push_back(line_of(line));
  Json results = {{"timestamp", to_rfc3339(wish.last_check)},
                  {"hostname", to_valid_utf8(node_name, kMostTextBytes)},
                  {"instance_type", to_valid_utf8(wish.instance_type, kMostTextBytes)},
                  {"status", to_string(wish.status)},
                  {"severity", severity_word(wish.severity)},
                  {"checks", std::move(checks)}};
  std::string text = dump_json(results);
  while (text.size() > kMostAnnotationBytes && !results["checks"].empty()) {
    results["checks"].erase(results["checks"].size() - 1);
    text = dump_json(results);
  }
  return text;
}

}  // namespace gpuward::exporter
