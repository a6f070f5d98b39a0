#include "tests/simulation/truth.h"

#include <algorithm>
#include <utility>

#include "core/runtime/text.h"

namespace gpuward::remediator::simulation {
namespace {

Version version_of(const std::string& text) { return *parse_integer<Version>(text); }

bool takes_back(const NodeTruth& before, const NodeTruth& after) {
  if (!before.mark) return false;
  return (before.mark->cordon && before.node.unschedulable && !after.node.unschedulable) ||
         (before.mark->taint && before.is_tainted && !after.is_tainted);
}

// Whether the node has all that its annotation claims.
bool stands(const NodeTruth& node) {
  return (!node.mark->cordon || node.node.unschedulable) && (!node.mark->taint || node.is_tainted);
}

}  // namespace

void Truth::note_change(const std::string& name, Version now) {
  // A write that changes nothing creates no version.
  changes_.push_back(changes_.empty() ? now : std::max(now, changes_.back()));
  changed_[name] = now;
}

// The node's open Remediation, if it has tainted or cordoned the node.
std::string Truth::acted_on(const std::string& node_uid) const {
  for (const auto& [name, one] : remediations_) {
    const bool has_acted = one.status.find(Step::kTaint) || one.status.find(Step::kCordon);
    if (one.open() && one.node_uid == node_uid && has_acted) return name;
  }
  return {};
}

// Whether the annotation is lost, and only the record says that the cordon is gpuward's.
bool Truth::record_claims_cordon(const NodeTruth& before) const {
  return std::ranges::any_of(remediations_, [&](const auto& known) {
    const Remediation& one = known.second;
    const bool was_returned = one.status.find(Step::kReturn) != nullptr && !before.is_tainted;
    return one.open() && one.node_uid == before.node.meta.uid && !was_returned &&
           one.status.has_done(Step::kCordon) && one.status.pre_existing_cordon == false;
  });
}

// Whether another user cordons here. If the node has gpuward's annotation for a cordon, that cannot
// be decided, unless a Remediation has already noticed that its own cordon was gone.
bool Truth::cordons_for_others(const NodeTruth& before) const {
  if (!before.mark) return !record_claims_cordon(before);
  if (!before.mark->cordon) return true;
  const Remediation* const marked = remediation(before.mark->name);
  return marked != nullptr && marked->status.phase == Phase::kPaused &&
         marked->status.rule == "guard.manual-change" &&
         marked->status.pre_existing_cordon.value_or(false);
}

void Truth::put_node(kube::Node node, Writer writer, Tick now) {
  note_change(node.meta.name, version_of(node.meta.resource_version));
  places_.insert_or_assign(node.meta.name, place_of(node.meta.labels, keys_));
  joined_.try_emplace(node.meta.uid, node.meta);
  NodeTruth& known = nodes_[node.meta.name];
  if (known.node.meta.uid != node.meta.uid) known = {};
  NodeTruth next = known;
  next.mark = owner_annotation_on(node);
  next.is_tainted = our_taint_on(node).has_value();
  next.node = std::move(node);
  if (!next.node.unschedulable) {
    next.is_foreign_cordon = false;
    next.cordoned_for.clear();
  } else if (!known.node.unschedulable) {
    next.is_foreign_cordon = writer == Writer::kOthers && cordons_for_others(known);
    if (writer == Writer::kRemediator && next.mark) next.cordoned_for = next.mark->name;
  }
  const std::string acted = acted_on(next.node.meta.uid);
  if (writer == Writer::kOthers && !acted.empty() && takes_back(known, next)) {
    next.taken_back = now;
    next.taken_from = acted;
  }
  if (!next.mark || stands(next)) next.taken_back.reset();
  known = std::move(next);
}

std::optional<kube::ObjectMeta> Truth::joined(const std::string& uid) const {
  const auto found = joined_.find(uid);
  return found == joined_.end() ? std::nullopt : std::optional(found->second);
}

void Truth::drop_node(const std::string& name, Version now) {
  note_change(name, now);
  nodes_.erase(name);
}

void Truth::put_remediation(Remediation remediation, Tick now) {
  note_change(remediation.name, version_of(remediation.resource_version));
  if (!remediation.wish.pause && !remediation.wish.cancel) {
    hands_off_.erase(remediation.name);
  } else {
    hands_off_.try_emplace(remediation.name, now);
  }
  if (remediation.wish.cancel || remediation.wish.machine_replaced || remediation.deleting)
    given_back_.insert(remediation.name);
  std::string name = remediation.name;
  remediations_.insert_or_assign(std::move(name), std::move(remediation));
}

void Truth::drop_remediation(const std::string& name, Version now) {
  note_change(name, now);
  remediations_.erase(name);
  hands_off_.erase(name);
  // The next Remediation of the node may get this name, and knows nothing of this cordon.
  for (auto& [node, known] : nodes_) {
    if (known.cordoned_for == name) known.cordoned_for.clear();
    if (known.taken_from == name) known.taken_back.reset();
  }
}

void Truth::put_ledger(Ledger ledger, Writer writer, Tick now) {
  const bool is_open = ledger.breaker.open;
  if (writer == Writer::kOthers && ledger_.breaker.open && !is_open) ++closings_;
  if (!is_open) breaker_opened_.reset();
  if (is_open && !breaker_opened_) breaker_opened_ = now;
  ledger_ = std::move(ledger);
  ledger_changed_ = now;
}

void Truth::go_back_to(const Truth& backup, Version version, Tick now) {
  nodes_ = backup.nodes_;
  remediations_ = backup.remediations_;
  hands_off_ = backup.hands_off_;
  changed_ = backup.changed_;
  changes_ = backup.changes_;
  ledger_ = backup.ledger_;
  breaker_opened_ = backup.breaker_opened_;
  for (auto& [name, known] : nodes_) {
    if (known.taken_back) known.taken_back = now;
  }
  for (auto& [name, since] : hands_off_) since = now;
  for (auto& [name, at] : changed_) at = version;
  if (breaker_opened_) breaker_opened_ = now;
  // A process that read it at that version knows it; the server refuses one that has read a later
  // version.
  ledger_changed_ = backup.ledger_changed_;
  changes_.push_back(version);
}

const NodeTruth* Truth::node(const std::string& name) const {
  const auto found = nodes_.find(name);
  return found == nodes_.end() ? nullptr : &found->second;
}

const Remediation* Truth::remediation(const std::string& name) const {
  const auto found = remediations_.find(name);
  return found == remediations_.end() ? nullptr : &found->second;
}

std::optional<Tick> Truth::hands_off_since(const std::string& remediation) const {
  const auto found = hands_off_.find(remediation);
  return found == hands_off_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace gpuward::remediator::simulation
