#include "exporter/publish/node/node_change.h"

#include <algorithm>
#include <functional>
#include <set>
#include <string>

#include "core/runtime/clock.h"
#include "core/runtime/json.h"
#include "core/runtime/text.h"
#include "exporter/publish/node/claim.h"
#include "exporter/publish/node/diagnosis.h"
#include "exporter/publish/node/node_keys.h"

namespace gpuward::exporter {
namespace {

// The annotation of the findings before they got their own name.
constexpr std::string_view kFormerFindingsAnnotation = "gpu-healthcheck.aws-samples.io/findings";
constexpr std::size_t kMostAnnotationBytes = 8192;
constexpr std::size_t kMostTextBytes = 256;

// As in the suite's result files: a check without findings has no severity.
Json line_of(const CheckLine& line) {
  const bool is_clean = line.severity == Severity::kNone;
  return {{"check", to_valid_utf8(line.check, kMostTextBytes)},
          {"status", to_upper(to_string(line.status))},
          {"severity", is_clean ? "" : severity_word(line.severity)}};
}

void change_labels(const NodeWish& wish, const NodeNames& names, kube::NodeChange& change) {
  change.set_labels.emplace(names(NodeName::kStatus), to_string(wish.status));
  change.set_labels.emplace(names(NodeName::kSeverity), severity_word(wish.severity));
  if (wish.last_check != WallTime{})
    change.set_labels.emplace(names(NodeName::kLastCheck), compact_time(wish.last_check));
}

// Only an exporter writes this label, even one that has never published anything else on the node.
bool says_stopped(const kube::Node& seen, const NodeNames& names) {
  const auto status = seen.meta.labels.find(std::string(names(NodeName::kStatus)));
  return status != seen.meta.labels.end() && status->second == kAgentStopped;
}

// Keeps `fail`, and the labels of a tainted node, because only a check that passes removes those.
void withdraw_labels(const NodeNames& names, const kube::Node& seen, kube::NodeChange& change) {
  if (has_taint(seen, unhealthy_taint(names))) return;
  const auto status = seen.meta.labels.find(std::string(names(NodeName::kStatus)));
  if (status == seen.meta.labels.end() || status->second == to_string(NodeStatus::kFail)) return;
  for (const NodeName label : {NodeName::kStatus, NodeName::kSeverity, NodeName::kLastCheck})
    change.remove_labels.push_back(names(label));
  change.remove_annotations.push_back(names(NodeName::kResults));
  change.remove_annotations.emplace_back(kFindingsAnnotation);
}

void change_gpu_labels(const NodeWish& wish, const kube::Node& seen, kube::NodeChange& change) {
  std::set<std::string, std::less<>> healthy;
  for (const auto& [index, is_healthy] : wish.amd_gpus_healthy) {
    std::string key(kAmdGpuLabelPrefix);
    key += index;
    key += kAmdGpuLabelSuffix;
    if (is_healthy) {
      healthy.insert(std::move(key));
    } else {
      change.set_labels.emplace(std::move(key), kAmdUnhealthy);
    }
  }
  for (const auto& [key, value] : seen.meta.labels) {
    if (!is_amd_gpu_label(key) || change.set_labels.contains(key)) continue;
    // The label of an unknown GPU stays unless every check was conclusive.
    if (healthy.contains(key) || wish.could_tell) change.remove_labels.push_back(key);
  }
}

void change_findings(const NodeWish& wish, kube::NodeChange& change) {
  const std::string key(kFindingsAnnotation);
  change.remove_annotations.emplace_back(kFormerFindingsAnnotation);
  if (wish.findings.empty()) {
    change.remove_annotations.push_back(key);
  } else {
    change.set_annotations.emplace(key, node_findings_text(wish.findings));
  }
}

void change_announcements(const NodeWish& wish, kube::NodeChange& change) {
  if (!wish.announcements) return;
  const std::string key(kAnnouncementsAnnotation);
  if (wish.announcements->empty()) {
    change.remove_annotations.push_back(key);
  } else {
    change.set_annotations.emplace(key, node_announcements_text(*wish.announcements));
  }
}

void change_taint(const NodeWish& wish, const kube::Taint& taint, kube::NodeChange& change) {
  switch (wish.taint) {
    case TaintWish::kSet:
      change.set_taints.push_back(taint);
      break;
    case TaintWish::kClear:
      change.remove_taints.push_back(taint);
      // The taint of a sweep that used gpuward's names before the exporter wrote any.
      change.remove_taints.push_back(unhealthy_taint(kGpuwardNames));
      break;
    case TaintWish::kLeave:
      break;
  }
}

// Removes the taint of the previous preset if nothing is broken any more, or once this preset's
// taint is set. Returns false if it must stay, because the node would return to service without it.
bool remove_old_taint(const NodeWish& wish, const NodeKeys& keys, const kube::Node& seen,
                      const kube::Taint& old, kube::NodeChange& change) {
  if (!has_taint(seen, old)) return true;
  if (!keys.taint && wish.taint != TaintWish::kClear) return false;
  if (wish.taint == TaintWish::kLeave) change.set_taints.push_back(*keys.taint);
  change.remove_taints.push_back(old);
  return true;
}

// Moves the results of sweeps and quarantines. Their claims stay until they are released or expire.
// Returns false if a name must stay.
bool remove_old_names(const NodeWish& wish, const NodeKeys& keys, const kube::Node& seen,
                      const NodeNames& old, kube::NodeChange& change) {
  for (const NodeName label : {NodeName::kStatus, NodeName::kSeverity, NodeName::kLastCheck})
    change.remove_labels.push_back(old(label));
  change.remove_annotations.push_back(old(NodeName::kResults));
  if (!keys.has_annotations) {
    change.remove_annotations.emplace_back(kFindingsAnnotation);
    change.remove_annotations.emplace_back(kAnnouncementsAnnotation);
  }
  if (old != keys.names()) move_diagnoses(seen, old, keys.names(), change);
  return remove_old_taint(wish, keys, seen, unhealthy_taint(old), change);
}

// Removes only names that this exporter has written, by the node's annotation, because AWS' suite
// may run beside it.
void change_preset(const NodeWish& wish, const NodeKeys& keys, const kube::Node& seen,
                   kube::NodeChange& change) {
  const auto before = preset_on(seen);
  const bool is_other = before && *before != keys.preset;
  if (is_other && !remove_old_names(wish, keys, seen, names_of(*before), change)) return;
  const std::string key(kPresetAnnotation);
  if (keys.has_names()) {
    change.set_annotations.emplace(key, to_string(keys.preset));
  } else if (is_other) {
    change.remove_annotations.push_back(key);
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
  if (wish.status != NodeStatus::kUnknown && keys.preset != NodePreset::kNone) {
    if (keys.has_labels) change_labels(wish, keys.names(), change);
    if (keys.has_annotations) {
      change.set_annotations.emplace(keys.names()(NodeName::kResults),
                                     results_annotation(wish, seen.meta.name));
      change_findings(wish, change);
      change_announcements(wish, change);
    }
    change_preset(wish, keys, seen, change);
  } else if (wish.is_withdrawn && keys.has_labels &&
             (preset_on(seen) == keys.preset || says_stopped(seen, keys.names()))) {
    withdraw_labels(keys.names(), seen, change);
  }
  if (keys.has_gpu_labels) change_gpu_labels(wish, seen, change);
  if (keys.taint) change_taint(wish, *keys.taint, change);
  release_claims(seen, now, {}, change);
  return change;
}

std::optional<kube::NodeCondition> condition_of(const NodeWish& wish, const kube::Node& seen,
                                                kube::WallTime now,
                                                std::chrono::milliseconds heartbeat) {
  if (wish.condition.empty()) return std::nullopt;
  kube::NodeCondition wanted{std::string(kConditionType), wish.condition, wish.reason,
                             wish.message};
  const kube::NodeCondition* const before = find_condition(seen);
  if (before == nullptr) return wanted;
  if (wanted.status == "Unknown" && before->status == "True") {
    wanted = *before;  // only the heartbeat changes
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
