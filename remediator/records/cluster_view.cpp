#include "remediator/records/cluster_view.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "core/kube/version.h"
#include "remediator/model/node_mark.h"
#include "remediator/model/ownership.h"
#include "remediator/model/remediation_name.h"

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

Order order_of(const AlertEvidence& alert, const std::string& node) {
  return {.node = node,
          .severity = alert.severity,
          .alertname = alert.alertname,
          .fingerprint = alert.fingerprint,
          .firing = true,
          .starts_at = alert.starts_at,
          .ends_at = {},
          .foreign = alert.foreign};
}

bool waits_for_yes(const Remediation& remediation) {
  const auto& approval = remediation.status.approval;
  return remediation.status.phase == Phase::kWaiting && approval && approval->by.empty();
}

// When its newest step was begun, or it was opened; nullopt where it is closed.
std::optional<WallTime> at_step_since(const Remediation& remediation) {
  if (!remediation.open()) return std::nullopt;
  std::optional<WallTime> since = remediation.created;
  for (const StepRecord& step : remediation.status.steps) {
    if (step.intent_at && (!since || *since < *step.intent_at)) since = step.intent_at;
  }
  return since;
}

// One whose marks are refused for good is not waited for.
bool is_undecided(const Remediation& remediation) {
  const bool has_failed = std::ranges::any_of(
      remediation.status.steps,
      [](const StepRecord& record) { return record.result == StepResult::kFailed; });
  return remediation.status.phase == Phase::kPending && remediation.severity >= Severity::kReset &&
         !has_failed;
}

// More than one alert, or the kernel too, says that it is unhealthy.
bool is_confirmed(const Remediation& remediation) {
  if (remediation.status.kernel_severity >= Severity::kReset) return true;
  std::string_view first;
  for (const AlertEvidence& alert : remediation.alerts) {
    if (!alert.firing() || alert.severity < Severity::kReset) continue;
    if (first.empty()) first = alert.alertname;
    if (first != alert.alertname) return true;
  }
  return false;
}

}  // namespace

void ClusterView::put_node(kube::Node node, std::optional<FleetNode> census) {
  auto seen = std::make_shared<const kube::Node>(std::move(node));
  const std::string& name = seen->meta.name;
  const std::lock_guard lock(mutex_);
  const auto known = nodes_.find(name);
  const bool is_new = known == nodes_.end() || known->second->meta.uid != seen->meta.uid;
  if (known != nodes_.end()) fleet_.nodes.erase(known->second->meta.uid);
  if (census) {
    fleet_.nodes.insert_or_assign(seen->meta.uid, std::move(*census));
    count_open(seen->meta.uid);
  }
  nodes_.insert_or_assign(name, seen);
  note_mark(*seen);
  if (is_new) may_have_returned_ = true;
}

void ClusterView::remove_node(const std::string& name) {
  const std::lock_guard lock(mutex_);
  own_changes_.erase(name);
  const auto known = nodes_.find(name);
  if (known == nodes_.end()) return;
  fleet_.nodes.erase(known->second->meta.uid);
  last_numbers_.erase(known->second->meta.uid);  // no Node has it again
  nodes_.erase(known);
}

// The census is the informer's: it comes with the same version. But the taint counts from now on.
void ClusterView::note_own_change(kube::Node node) {
  const std::lock_guard lock(mutex_);
  own_changes_.insert_or_assign(node.meta.name, node.meta.resource_version);
  note_mark(node);
  if (const auto counted = fleet_.nodes.find(node.meta.uid); counted != fleet_.nodes.end())
    counted->second.tainted = our_taint_on(node).has_value();
  const auto known = nodes_.find(node.meta.name);
  if (known != nodes_.end() && known->second->meta.uid == node.meta.uid)
    known->second = std::make_shared<const kube::Node>(std::move(node));
}

bool ClusterView::is_own_change(const std::string& node,
                                const std::string& resource_version) const {
  const std::lock_guard lock(mutex_);
  const auto found = own_changes_.find(node);
  return found != own_changes_.end() && found->second == resource_version;
}

void ClusterView::put_remediation(Remediation remediation) {
  const std::lock_guard lock(mutex_);
  const auto known = remediations_.find(remediation.name);
  const bool is_known = known != remediations_.end();
  int& last_number = last_numbers_[remediation.node_uid];
  last_number = std::max(last_number, count_in(remediation.name));
  if (is_known && is_older(remediation.resource_version, known->second.resource_version)) return;
  if (!is_known) {
    by_uid_.emplace(remediation.node_uid, remediation.name);
    by_node_.emplace(remediation.node, remediation.name);
  }
  const bool is_new = !is_known || !was_given_up(known->second);
  if (is_new && was_given_up(remediation)) may_have_returned_ = true;
  std::string name = remediation.name;
  const std::string node_uid = remediation.node_uid;
  unrecorded_.erase(name);
  unmarked_.erase(name);
  if (is_undecided(remediation)) {
    unrecorded_.insert(name);
    if (!is_marked(remediation)) unmarked_.insert(name);
  }
  remediations_.insert_or_assign(std::move(name), std::move(remediation));
  count_open(node_uid);
}

bool ClusterView::is_marked(const Remediation& remediation) const {
  const auto node = nodes_.find(remediation.node);
  if (node == nodes_.end() || node->second->meta.uid != remediation.node_uid) return false;
  const auto mark = mark_on(*node->second);
  return mark && mark->name == remediation.name;
}

void ClusterView::note_mark(const kube::Node& node) {
  if (const auto mark = mark_on(node)) unmarked_.erase(mark->name);
}

bool ClusterView::are_at(const std::string& name, const std::string& version,
                         const std::string& node_version) const {
  const std::lock_guard lock(mutex_);
  const auto known = remediations_.find(name);
  if (known == remediations_.end() || known->second.resource_version != version) return false;
  const auto node = nodes_.find(known->second.node);
  return node != nodes_.end() && node->second->meta.resource_version == node_version;
}

bool ClusterView::has_since(const std::set<std::string>& names, WallTime since,
                            const std::string& but_for) const {
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(names, [&](const std::string& name) {
    const Remediation& remediation = remediations_.at(name);
    return remediation.created >= since && remediation.node != but_for;
  });
}

bool ClusterView::has_unmarked_since(WallTime since, const std::string& but_for) const {
  return has_since(unmarked_, since, but_for);
}

bool ClusterView::has_unrecorded_since(WallTime since, const std::string& but_for) const {
  return has_since(unrecorded_, since, but_for);
}

void ClusterView::remove_remediation(const std::string& name) {
  const std::lock_guard lock(mutex_);
  unrecorded_.erase(name);
  unmarked_.erase(name);
  const auto known = remediations_.find(name);
  if (known == remediations_.end()) return;
  const std::string node_uid = known->second.node_uid;
  erase_entry(by_uid_, node_uid, name);
  erase_entry(by_node_, known->second.node, name);
  const auto node = nodes_.find(known->second.node);
  const bool is_of_the_past = node == nodes_.end() || node->second->meta.uid != node_uid;
  if (is_of_the_past && !by_uid_.contains(node_uid)) last_numbers_.erase(node_uid);
  remediations_.erase(known);
  count_open(node_uid);
}

void ClusterView::keep_remediations(const std::set<std::string>& names,
                                    const std::string& version) {
  std::vector<std::string> gone;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [name, known] : remediations_) {
      if (!names.contains(name) && is_older(known.resource_version, version)) gone.push_back(name);
    }
  }
  for (const std::string& name : gone) remove_remediation(name);
}

std::map<std::string, std::string> ClusterView::remediation_versions() const {
  const std::lock_guard lock(mutex_);
  std::map<std::string, std::string> versions;
  for (const auto& [name, known] : remediations_) versions.emplace(name, known.resource_version);
  return versions;
}

void ClusterView::set_nodes_synced() {
  const std::lock_guard lock(mutex_);
  nodes_synced_ = true;
}

void ClusterView::set_remediations_synced() {
  const std::lock_guard lock(mutex_);
  remediations_synced_ = true;
}

bool ClusterView::synced() const {
  const std::lock_guard lock(mutex_);
  return nodes_synced_ && remediations_synced_;
}

void ClusterView::note_nodes_heard(Clock::Steady now) {
  const std::lock_guard lock(mutex_);
  nodes_heard_ = now;
}

void ClusterView::note_remediations_heard(Clock::Steady now) {
  const std::lock_guard lock(mutex_);
  remediations_heard_ = now;
}

bool ClusterView::is_fresh(Clock::Steady now) const {
  const std::lock_guard lock(mutex_);
  return nodes_heard_ && remediations_heard_ &&
         now - std::min(*nodes_heard_, *remediations_heard_) <= kOldestView;
}

std::optional<NodeIdentity> ClusterView::node(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const auto found = nodes_.find(name);
  return found == nodes_.end() ? std::nullopt : std::optional(identity_of(*found->second));
}

std::shared_ptr<const kube::Node> ClusterView::last_node(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const auto found = nodes_.find(name);
  return found == nodes_.end() ? nullptr : found->second;
}

std::vector<std::shared_ptr<const kube::Node>> ClusterView::nodes_since(WallTime since) const {
  std::vector<std::shared_ptr<const kube::Node>> made;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [name, node] : nodes_) {
      if (node->meta.created >= since) made.push_back(node);
    }
  }
  std::ranges::sort(made, {}, [](const auto& node) {
    return std::pair(*node->meta.created, std::string_view(node->meta.name));
  });
  return made;
}

void ClusterView::for_each_remediation(const std::function<void(const Remediation&)>& use) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [name, remediation] : remediations_) use(remediation);
}

std::optional<Remediation> ClusterView::last_remediation(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const auto found = remediations_.find(name);
  return found == remediations_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<Remediation> ClusterView::remediations_of(const std::string& node_uid) const {
  std::vector<Remediation> result;
  {
    const std::lock_guard lock(mutex_);
    auto [it, end] = by_uid_.equal_range(node_uid);
    for (; it != end; ++it) result.push_back(remediations_.at(it->second));
  }
  std::sort(result.begin(), result.end(), [](const Remediation& a, const Remediation& b) {
    return count_in(a.name) < count_in(b.name);
  });
  return result;
}

std::vector<Remediation> ClusterView::others_open(const Remediation& remediation) const {
  std::vector<Remediation> result;
  const std::lock_guard lock(mutex_);
  auto [it, end] = by_uid_.equal_range(remediation.node_uid);
  for (; it != end; ++it) {
    const Remediation& other = remediations_.at(it->second);
    if (other.open() && other.name != remediation.name) result.push_back(other);
  }
  return result;
}

int ClusterView::last_number_of(const std::string& node_uid) const {
  const std::lock_guard lock(mutex_);
  const auto found = last_numbers_.find(node_uid);
  return found == last_numbers_.end() ? 0 : found->second;
}

bool ClusterView::has(const std::string& name, const std::string& resource_version) const {
  const std::lock_guard lock(mutex_);
  const auto found = remediations_.find(name);
  if (found == remediations_.end()) return false;
  const std::string& known = found->second.resource_version;
  return known == resource_version || is_older(resource_version, known);
}

std::vector<std::string> ClusterView::open_for(const std::string& node_name) const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> names;
  auto [it, end] = by_node_.equal_range(node_name);
  for (; it != end; ++it) {
    if (remediations_.at(it->second).wants_us()) names.push_back(it->second);
  }
  return names;
}

std::vector<std::string> ClusterView::nodes_with_open() const {
  const std::lock_guard lock(mutex_);
  std::set<std::string> names;
  for (const auto& [name, remediation] : remediations_) {
    if (remediation.wants_us()) names.insert(remediation.node);
  }
  return {names.begin(), names.end()};
}

std::vector<Order> ClusterView::firing_from(std::string_view origin) const {
  const std::lock_guard lock(mutex_);
  std::vector<Order> findings;
  for (const auto& [name, remediation] : remediations_) {
    if (!remediation.open()) continue;
    for (const AlertEvidence& alert : remediation.alerts) {
      if (alert.firing() && alert.fingerprint.starts_with(origin))
        findings.push_back(order_of(alert, remediation.node));
    }
  }
  return findings;
}

std::vector<ConditionSeen> ClusterView::conditions(std::span<const ConditionRule> rules) const {
  const std::lock_guard lock(mutex_);
  std::vector<ConditionSeen> all;
  for (const auto& [name, node] : nodes_) {
    auto own = seen_conditions(rules, *node);
    std::ranges::move(own, std::back_inserter(all));
  }
  return all;
}

void ClusterView::with_seen(
    const std::function<void(std::span<const SeenRemediation>)>& use) const {
  const std::lock_guard lock(mutex_);
  std::vector<SeenRemediation> seen;
  for (const auto& [name, remediation] : remediations_) {
    if (!remediation.open() && remediation.status.find(Step::kNcclPairs) == nullptr) continue;
    const auto node = nodes_.find(remediation.node);
    seen.push_back({remediation, node == nodes_.end() ? nullptr : node->second});
  }
  use(seen);
}

void ClusterView::with_fleet(const std::function<void(const Fleet&)>& use) const {
  const std::lock_guard lock(mutex_);
  use(fleet_);
}

std::size_t ClusterView::fleet_size() const {
  const std::lock_guard lock(mutex_);
  return fleet_.nodes.size();
}

void ClusterView::count_open(const std::string& node_uid) {
  const auto found = fleet_.nodes.find(node_uid);
  if (found == fleet_.nodes.end()) return;
  FleetNode& node = found->second;
  node.severity = Severity::kNone;
  node.alerts.clear();
  node.waits_for_taint = node.confirmed = false;
  for (auto [it, end] = by_uid_.equal_range(node_uid); it != end; ++it) {
    const Remediation& remediation = remediations_.at(it->second);
    if (!remediation.open()) continue;
    node.severity = std::max(node.severity, remediation.acted_severity());
    for (const AlertEvidence& alert : remediation.alerts) {
      if (alert.firing())
        node.alerts.push_back({alert.alertname, alert.first_received, alert.severity});
    }
    node.confirmed = node.confirmed || is_confirmed(remediation);
    const bool waits = is_undecided(remediation) || remediation.status.rule == "budget.taint";
    node.waits_for_taint = node.waits_for_taint || waits;
  }
}

std::vector<ReturnedMachine> ClusterView::returned_machines() const {
  const std::lock_guard lock(mutex_);
  return find_returned(nodes_, remediations_);
}

std::vector<Remediation> ClusterView::earlier_of(const NodeIdentity& node) const {
  const std::lock_guard lock(mutex_);
  return earlier_remediations(node, nodes_, remediations_);
}

bool ClusterView::may_be_orphaned(const kube::Node& node) const {
  const Remediation* last = nullptr;
  for (auto [it, end] = by_uid_.equal_range(node.meta.uid); it != end; ++it) {
    const Remediation& remediation = remediations_.at(it->second);
    if (remediation.open()) return false;
    if (!knows_of_cordon(remediation)) continue;
    if (last == nullptr || count_in(last->name) < count_in(remediation.name)) last = &remediation;
  }
  return has_marks(node) || (last != nullptr && has_left_cordon(*last, node));
}

std::vector<std::string> ClusterView::nodes_with_orphaned_marks() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> names;
  for (const auto& [name, node] : nodes_) {
    if (may_be_orphaned(*node)) names.push_back(name);
  }
  return names;
}

bool ClusterView::may_have_returned() {
  const std::lock_guard lock(mutex_);
  return std::exchange(may_have_returned_, false);
}

std::vector<ClusterView::Count> ClusterView::count_remediations() const {
  const std::lock_guard lock(mutex_);
  std::map<std::pair<Phase, Severity>, Count> counts;
  for (const auto& [name, remediation] : remediations_) {
    const Phase phase = remediation.status.phase;
    Count& count = counts[{phase, remediation.severity}];
    count.phase = phase;
    count.severity = remediation.severity;
    ++count.number;
    if (waits_for_yes(remediation)) ++count.unanswered;
    const auto since = at_step_since(remediation);
    if (since && (!count.oldest_step || *since < *count.oldest_step)) count.oldest_step = since;
  }
  std::vector<Count> result;
  for (const auto& [key, count] : counts) result.push_back(count);
  return result;
}

std::map<std::string, std::size_t> ClusterView::count_left_in_service() const {
  const std::lock_guard lock(mutex_);
  std::map<std::string, std::size_t> by_rule;
  for (const auto& [name, remediation] : remediations_) {
    if (is_left_in_service(remediation.status)) ++by_rule[remediation.status.rule];
  }
  return by_rule;
}

}  // namespace gpuward::remediator
