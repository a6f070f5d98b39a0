#include "remediator/model/ownership.h"

#include <tuple>
#include <vector>

#include "core/model/severity.h"
#include "remediator/model/node_mark.h"
#include "remediator/model/remediation_name.h"

namespace gpuward::remediator {
namespace {

bool has_annotation(const kube::Node& node) {
  return node.meta.annotations.contains(std::string(kAnnotation));
}

// If a Remediation was closed before it did anything, an earlier one knows more.
bool knows_of_cordon(const RemediationStatus& status) {
  return status.pre_existing_cordon || status.find(Step::kCordon) != nullptr ||
         status.find(Step::kReturn) != nullptr;
}

// Says how the annotation contradicts the record; nullopt if it does not.
std::optional<std::string> contradiction(const Remediation& remediation, const kube::Node& node) {
  if (!has_annotation(node)) return std::nullopt;
  const auto mark = owner_annotation_on(node);
  if (!mark) return "the annotation on the node cannot be read";
  const RemediationStatus& status = remediation.status;
  if (mark->name != remediation.name) return "the annotation on the node names " + mark->name;
  if (mark->taint && status.find(Step::kTaint) == nullptr)
    return "the annotation says that gpuward tainted the node; the record does not";
  const bool is_recorded =
      node.unschedulable && status.has_done(Step::kCordon) && status.pre_existing_cordon == false;
  if (!mark->cordon && is_recorded)
    return "the record says that gpuward cordoned the node; the annotation does not";
  if (!mark->cordon) return std::nullopt;
  if (status.find(Step::kCordon) == nullptr)
    return "the annotation says that gpuward cordoned the node; the record does not";
  if (status.pre_existing_cordon == mark->pre_existing_cordon) return std::nullopt;
  return mark->pre_existing_cordon
             ? "the annotation says that the node was cordoned before; the record does not"
             : "the record says that the node was cordoned before; the annotation does not";
}

}  // namespace

bool may_be_returned(const Remediation& remediation, const kube::Node& node) {
  return remediation.status.find(Step::kReturn) != nullptr && !has_our_taint_or_annotation(node);
}

bool is_own_cordon(const Remediation& remediation, const kube::Node& node) {
  const RemediationStatus& status = remediation.status;
  if (!node.unschedulable || status.pre_existing_cordon.value_or(true)) return false;
  const auto mark = owner_annotation_on(node);
  if (!mark) return status.has_done(Step::kCordon) && !may_be_returned(remediation, node);
  return mark->name == remediation.name && mark->cordon && !mark->pre_existing_cordon &&
         status.find(Step::kCordon) != nullptr;
}

bool has_unclear_cordon(const Remediation& remediation, const kube::Node& node) {
  const StepRecord* cordon = remediation.status.find(Step::kCordon);
  const auto mark = owner_annotation_on(node);
  const bool is_claimed = mark && mark->cordon && mark->name == remediation.name;
  return !is_claimed && node.unschedulable && cordon != nullptr &&
         cordon->result != StepResult::kDone && remediation.status.pre_existing_cordon == false;
}

bool goes_first(const Remediation& one, const Remediation& other, const kube::Node& node) {
  const auto mark = owner_annotation_on(node);
  if (mark && mark->name == one.name) return true;
  if (mark && mark->name == other.name) return false;
  if (one.is_drill() != other.is_drill()) return other.is_drill();
  const bool has_acted = !one.status.steps.empty(), other_has = !other.status.steps.empty();
  if (has_acted != other_has) return has_acted;
  return std::tie(one.created, one.name) < std::tie(other.created, other.name);
}

std::optional<std::string> disagreement(const Remediation& remediation, const kube::Node& node) {
  const RemediationStatus& status = remediation.status;
  const auto mark = owner_annotation_on(node);
  const auto taint = our_taint_on(node);
  if (auto what = contradiction(remediation, node)) return what;
  if (has_unclear_cordon(remediation, node))
    return "no annotation says whether the cordon is gpuward's";
  if (!taint) return std::nullopt;
  if (status.find(Step::kTaint) == nullptr)
    return "the node has the taint " + *taint + ", but the record has none";
  const bool is_another =
      mark ? *taint != to_string(mark->severity) : !parse_severity(*taint).has_value();
  if (is_another)
    return "the taint on the node has the value " + *taint + ", which gpuward did not set";
  return std::nullopt;
}

bool has_our_taint_or_annotation(const kube::Node& node) {
  return has_annotation(node) || our_taint_on(node).has_value();
}

bool has_contradicting_annotation(const Remediation& remediation, const kube::Node& node) {
  return contradiction(remediation, node).has_value();
}

const Remediation* left_cordon(std::span<const Remediation> records, const kube::Node& node) {
  if (!node.unschedulable) return nullptr;
  const Remediation* last = nullptr;
  for (const Remediation& one : records) {
    if (one.node_uid != node.meta.uid || !knows_of_cordon(one.status)) continue;
    if (last == nullptr || count_in(last->name) < count_in(one.name)) last = &one;
  }
  if (last == nullptr || last->open()) return nullptr;
  const RemediationStatus& status = last->status;
  const bool is_left = status.has_done(Step::kCordon) && status.pre_existing_cordon == false &&
                       status.find(Step::kReturn) == nullptr;
  return is_left ? last : nullptr;
}

std::string ownership_text(const kube::Node& node) {
  std::vector<std::string> parts;
  if (const auto taint = our_taint_on(node))
    parts.push_back("the taint " + std::string(kTaintKey) + "=" + *taint);
  if (const auto mark = owner_annotation_on(node)) {
    parts.push_back("the annotation of " + mark->name);
  } else if (has_annotation(node)) {
    parts.emplace_back("an unreadable annotation");
  }
  if (node.unschedulable) parts.emplace_back("a cordon");
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) text += i + 1 == parts.size() ? " and " : ", ";
    text += parts[i];
  }
  return text.empty() ? "nothing" : text;
}

}  // namespace gpuward::remediator
