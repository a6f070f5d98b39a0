#include "remediator/cluster/cluster_view.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "core/kube/node_findings.h"
#include "core/kube/objects.h"
#include "remediator/model/announced.h"
#include "remediator/model/node_mark.h"
#include "remediator/model/ownership.h"
#include "remediator/model/remediation_name.h"
#include "remediator/model/silent_alerts.h"

namespace gpuward::remediator {
namespace {

using kube::is_older;

void erase_entry(std::multimap<std::string, std::string>& index, const std::string& key,
                 const std::string& value) {
  auto [it, end] = index.equal_range(key);
  for (; it != end; ++it) {
    if (it->second == value) {
      index.erase(it);
      return;
    }
  }
}

AlertSignal signal_of(const AlertEvidence& alert, const std::string& node) {
  return {.node = node,
          .severity = alert.severity,
          .alertname = alert.alertname,
          .fingerprint = alert.fingerprint,
          .firing = true,
          .starts_at = alert.starts_at,
          .ends_at = {},
          .foreign = alert.foreign,
          .drill = alert.drill};
}

// A node whose taint is permanently refused is not waited for.
bool is_undecided(const Remediation& remediation) {
  const bool has_failed = std::ranges::any_of(
      remediation.status.steps,
      [](const StepRecord& record) { return record.result == StepResult::kFailed; });
  return remediation.status.phase == Phase::kPending && remediation.severity >= Severity::kReset &&
         !remediation.is_drill() && !has_failed;
}

// Returns whether more than one alert, or the kernel too, shows a fault.
bool is_confirmed(const Remediation& remediation) {
  if (remediation.status.confirmed_severity >= Severity::kReset) return true;
  std::string_view first;
  for (const AlertEvidence& alert : remediation.alerts) {
    if (!alert.firing() || alert.severity < Severity::kReset || alert.drill) continue;
    if (first.empty()) first = alert.alertname;
    if (first != alert.alertname) return true;
  }
  return false;
}

bool is_annotated(const ViewState& state, const Remediation& remediation) {
  const auto node = state.nodes.find(remediation.node);
  if (node == state.nodes.end() || node->second->meta.uid != remediation.node_uid) return false;
  const auto mark = owner_annotation_on(*node->second);
  return mark && mark->name == remediation.name;
}

void note_annotation(ViewState& state, const kube::Node& node) {
  if (const auto mark = owner_annotation_on(node)) state.untainted.erase(mark->name);
}

// A machine that gpuward has asked to restart or terminate is expected to be silent.
bool is_away(const StepRecord& record) {
  return is_of_the_machine(record.step) &&
         (record.result == StepResult::kIntended || record.result == StepResult::kRunning);
}

void note_records(const Remediation& remediation, WallTime now, NodeSign& sign) {
  const bool is_silent = std::ranges::any_of(remediation.alerts, is_of_silent_node);
  const bool is_recent = remediation.created && now - *remediation.created < kFlappingWithin;
  if (is_silent && is_recent) ++sign.recent;
  if (!remediation.open()) return;
  if (std::ranges::any_of(remediation.status.steps, is_away)) sign.is_restarting = true;
  if (!is_silent || !remediation.any_firing()) return;
  sign.is_recorded = true;
  sign.waits_for_operator = needs_operator(remediation.status.phase);
}

void count_open(ViewState& state, const std::string& node_uid) {
  const auto found = state.fleet.nodes.find(node_uid);
  if (found == state.fleet.nodes.end()) return;
  FleetNode& node = found->second;
  node.severity = Severity::kNone;
  node.alerts.clear();
  node.waits_for_taint = node.confirmed = false;
  for (auto [it, end] = state.by_uid.equal_range(node_uid); it != end; ++it) {
    const Remediation& remediation = state.remediations.at(it->second);
    // A node with only drills is healthy, needs nothing that other nodes wait for, and is not in a
    // storm.
    if (!remediation.open() || remediation.is_drill()) continue;
    node.severity = std::max(node.severity, remediation.acted_severity());
    for (const AlertEvidence& alert : remediation.alerts) {
      // If a cloud maintains many machines at once, that is not a false finding on many nodes.
      if (alert.firing() && !announced_kind(alert) && !alert.drill)
        node.alerts.push_back({alert.alertname, alert.first_received, alert.severity});
    }
    node.confirmed = node.confirmed || is_confirmed(remediation);
    const bool waits = is_undecided(remediation) || remediation.status.rule == "budget.taint";
    node.waits_for_taint = node.waits_for_taint || waits;
  }
}

}  // namespace

void InformerState::note_synced(Informer which) {
  const std::lock_guard lock(mutex_);
  synced_[static_cast<std::size_t>(which)] = true;
}

void InformerState::note_heard(Informer which, Clock::Steady now) {
  const std::lock_guard lock(mutex_);
  heard_[static_cast<std::size_t>(which)] = now;
}

bool InformerState::synced() const {
  const std::lock_guard lock(mutex_);
  return synced_[0] && synced_[1];
}

bool InformerState::is_fresh(Clock::Steady now) const {
  const std::lock_guard lock(mutex_);
  return heard_[0] && heard_[1] && now - std::min(*heard_[0], *heard_[1]) <= kOldestView;
}

void ClusterView::put_node(kube::Node node, std::optional<FleetNode> census) {
  auto seen = std::make_shared<const kube::Node>(std::move(node));
  const std::string& name = seen->meta.name;
  const std::lock_guard lock(mutex_);
  const auto known = state_.nodes.find(name);
  const bool is_new = known == state_.nodes.end() || known->second->meta.uid != seen->meta.uid;
  if (known != state_.nodes.end()) state_.fleet.nodes.erase(known->second->meta.uid);
  if (census) {
    if (place_keys_) census->place = place_of(seen->meta.labels, *place_keys_);
    state_.fleet.nodes.insert_or_assign(seen->meta.uid, std::move(*census));
    count_open(state_, seen->meta.uid);
  }
  state_.nodes.insert_or_assign(name, seen);
  note_annotation(state_, *seen);
  if (is_new) may_have_returned_ = true;
}

void ClusterView::set_places(const PlaceKeys& keys) {
  const std::lock_guard lock(mutex_);
  place_keys_ = keys;
  for (const auto& [name, node] : state_.nodes) {
    const auto counted = state_.fleet.nodes.find(node->meta.uid);
    if (counted != state_.fleet.nodes.end())
      counted->second.place = place_of(node->meta.labels, keys);
  }
}

void ClusterView::remove_node(const std::string& name) {
  const std::lock_guard lock(mutex_);
  state_.own_changes.erase(name);
  const auto known = state_.nodes.find(name);
  if (known == state_.nodes.end()) return;
  state_.fleet.nodes.erase(known->second->meta.uid);
  state_.last_numbers.erase(known->second->meta.uid);  // no Node gets it again
  state_.nodes.erase(known);
}

// The census comes from the informer with the same version, but the taint counts from now on.
void ClusterView::note_own_change(kube::Node node) {
  const std::lock_guard lock(mutex_);
  state_.own_changes.insert_or_assign(node.meta.name, node.meta.resource_version);
  note_annotation(state_, node);
  if (const auto counted = state_.fleet.nodes.find(node.meta.uid);
      counted != state_.fleet.nodes.end())
    counted->second.tainted = our_taint_on(node).has_value();
  const auto known = state_.nodes.find(node.meta.name);
  if (known != state_.nodes.end() && known->second->meta.uid == node.meta.uid)
    known->second = std::make_shared<const kube::Node>(std::move(node));
}

void ClusterView::put_remediation(Remediation remediation) {
  const std::lock_guard lock(mutex_);
  const auto known = state_.remediations.find(remediation.name);
  const bool is_known = known != state_.remediations.end();
  int& last_number = state_.last_numbers[remediation.node_uid];
  last_number = std::max(last_number, count_in(remediation.name));
  if (is_known && is_older(remediation.resource_version, known->second.resource_version)) return;
  if (!is_known) {
    state_.by_uid.emplace(remediation.node_uid, remediation.name);
    state_.by_node.emplace(remediation.node, remediation.name);
  }
  const bool is_new = !is_known || !was_given_up(known->second);
  if (is_new && was_given_up(remediation)) may_have_returned_ = true;
  std::string name = remediation.name;
  const std::string node_uid = remediation.node_uid;
  state_.unrecorded.erase(name);
  state_.untainted.erase(name);
  if (is_undecided(remediation)) {
    state_.unrecorded.insert(name);
    if (!is_annotated(state_, remediation)) state_.untainted.insert(name);
  }
  state_.remediations.insert_or_assign(std::move(name), std::move(remediation));
  count_open(state_, node_uid);
}

void ClusterView::remove_remediation(const std::string& name) {
  const std::lock_guard lock(mutex_);
  state_.unrecorded.erase(name);
  state_.untainted.erase(name);
  const auto known = state_.remediations.find(name);
  if (known == state_.remediations.end()) return;
  const std::string node_uid = known->second.node_uid;
  erase_entry(state_.by_uid, node_uid, name);
  erase_entry(state_.by_node, known->second.node, name);
  const auto node = state_.nodes.find(known->second.node);
  const bool is_of_the_past = node == state_.nodes.end() || node->second->meta.uid != node_uid;
  if (is_of_the_past && !state_.by_uid.contains(node_uid)) state_.last_numbers.erase(node_uid);
  state_.remediations.erase(known);
  count_open(state_, node_uid);
}

void ClusterView::keep_remediations(const std::set<std::string>& names,
                                    const std::string& version) {
  std::vector<std::string> gone;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [name, known] : state_.remediations) {
      if (!names.contains(name) && is_older(known.resource_version, version)) gone.push_back(name);
    }
  }
  for (const std::string& name : gone) remove_remediation(name);
}

std::vector<AlertSignal> ClusterView::firing_from(std::string_view origin) const {
  const std::lock_guard lock(mutex_);
  std::vector<AlertSignal> findings;
  for (const auto& [name, remediation] : state_.remediations) {
    if (!remediation.open()) continue;
    for (const AlertEvidence& alert : remediation.alerts) {
      if (alert.firing() && alert.fingerprint.starts_with(origin))
        findings.push_back(signal_of(alert, remediation.node));
    }
  }
  return findings;
}

std::vector<ConditionSeen> ClusterView::conditions(std::span<const ConditionRule> rules) const {
  const std::lock_guard lock(mutex_);
  std::vector<ConditionSeen> all;
  for (const auto& [name, node] : state_.nodes) {
    auto own = seen_conditions(rules, *node);
    std::ranges::move(own, std::back_inserter(all));
  }
  return all;
}

bool ClusterView::is_ruled(const std::string& node, const std::string& fingerprint,
                           std::span<const ConditionRule> rules) const {
  const std::lock_guard lock(mutex_);
  const auto known = state_.nodes.find(node);
  return std::ranges::any_of(rules, [&](const ConditionRule& rule) {
    return fingerprint_of(rule) == fingerprint &&
           (known == state_.nodes.end() || has_all_labels(known->second->meta.labels, rule.labels));
  });
}

std::vector<AnnouncedNode> ClusterView::announcements() const {
  const std::lock_guard lock(mutex_);
  std::vector<AnnouncedNode> all;
  for (const auto& [name, node] : state_.nodes)
    all.push_back({.node = name, .list = node_announcements_of(*node)});
  return all;
}

std::vector<NodeLine> ClusterView::unknown_lines() const {
  const std::lock_guard lock(mutex_);
  std::vector<NodeLine> all;
  for (const auto& [name, node] : state_.nodes) {
    for (NodeFinding& finding : node_findings_of(*node)) {
      if (finding.is_unknown)
        all.push_back({.node = name, .text = std::move(finding.line), .at = finding.last_seen});
    }
  }
  return all;
}

std::vector<NodeSign> ClusterView::signs(WallTime now) const {
  const std::lock_guard lock(mutex_);
  std::vector<NodeSign> all;
  for (const auto& [name, node] : state_.nodes) {
    const auto counted = state_.fleet.nodes.find(node->meta.uid);
    const bool has_gpus = counted != state_.fleet.nodes.end();
    NodeSign& sign = all.emplace_back(
        sign_of(*node, has_gpus ? counted->second.place
                                : place_of(node->meta.labels, place_keys_.value_or(PlaceKeys()))));
    sign.has_gpus = has_gpus;
    for (auto [it, end] = state_.by_uid.equal_range(node->meta.uid); it != end; ++it)
      note_records(state_.remediations.at(it->second), now, sign);
  }
  return all;
}

void ClusterView::with_seen(
    const std::function<void(std::span<const SeenRemediation>)>& use) const {
  const std::lock_guard lock(mutex_);
  std::vector<SeenRemediation> seen;
  for (const auto& [name, remediation] : state_.remediations) {
    if (!remediation.open() && remediation.status.find(Step::kNcclPairs) == nullptr) continue;
    const auto node = state_.nodes.find(remediation.node);
    seen.push_back({remediation, node == state_.nodes.end() ? nullptr : node->second});
  }
  use(seen);
}

bool ClusterView::may_have_returned() {
  const std::lock_guard lock(mutex_);
  return std::exchange(may_have_returned_, false);
}

}  // namespace gpuward::remediator
