#include "tests/simulation/announcement_rules.h"

#include <algorithm>

#include "remediator/cluster/exclusions.h"
#include "remediator/model/announced.h"
#include "remediator/policy/policy_for_remediation.h"
#include "tests/simulation/identity_rules.h"
#include "tests/simulation/told.h"

namespace gpuward::remediator::simulation {
namespace {

using std::chrono::minutes;

// Time from the announced start until gpuward must have notified an operator that a drain is late.
// The gates run once a minute.
constexpr std::chrono::seconds kToldWithin{150};
// The announcement must have been there for this long before that: for the sources, for the steps
// before a drain, and for the 5 minutes in which an answer about the machine's previous Node
// counts.
constexpr minutes kKnownWithin{7};
// How long the record must have had it: a record of a fault may have been closed a moment ago.
constexpr minutes kLateWithin{4};
// Time from the closing of the last record until the sources read the announcements again.
constexpr minutes kReadWithin{2};

bool has_steps(const Policy& policy, AnnouncementKind kind) {
  const auto rule = policy.maintenance.find(kind);
  return rule != policy.maintenance.end() && !rule->second.steps.empty();
}

bool has_step(const std::vector<PlannedStep>& plan, Step step) {
  return std::ranges::find(plan, step, &PlannedStep::step) != plan.end();
}

// Whether the machine has read the event in its current boot. A silent machine writes nothing any
// more, and a restored Node has old annotations.
bool stands_on(const kube::Node& node, const std::string& event) {
  return std::ranges::any_of(node_announcements_of(node), [&](const NodeAnnouncement& one) {
    return one.announced.id == event && !one.is_stale && one.boot_id == node.boot_id;
  });
}

const AlertEvidence* evidence_of(const Remediation& remediation, const Announcement& announced) {
  const auto found = std::ranges::find(remediation.alerts, announcement_fingerprint(announced),
                                       &AlertEvidence::fingerprint);
  return found == remediation.alerts.end() ? nullptr : &*found;
}

}  // namespace

void AnnouncementRules::on_said(const std::string& node_uid,
                                const std::vector<NodeAnnouncement>& list) {
  auto& said = said_[node_uid];
  for (Said& one : said) {
    if (!one.until && std::ranges::find(list, one.what) == list.end()) one.until = stage_.tick;
  }
  for (const NodeAnnouncement& one : list) {
    const bool is_known = std::ranges::any_of(
        said, [&](const Said& known) { return !known.until && known.what == one; });
    if (!is_known) said.push_back({.what = one, .since = stage_.tick, .at = stage_.clock.steady()});
  }
}

void AnnouncementRules::on_restored() {
  for (auto& [node_uid, said] : said_) {
    for (Said& one : said) {
      one.since = stage_.tick;
      one.until.reset();
    }
  }
}

std::shared_ptr<const Policy> AnnouncementRules::policy_of(const Remediation& remediation,
                                                           const kube::Node& node) const {
  return policy_for(stage_.meant.get(), &node, remediation);
}

// Judges by all that the Node showed at any time since the replica began its look.
bool AnnouncementRules::check_drain(const Remediation& after, const StepRecord& record) const {
  const Look& look = *stage_.looks.back();
  const auto policy = policy_for(look.policy, &*look.node, after);
  const std::string what = std::string(to_string(record.step)) + " of " + after.name;
  const bool has_fault = after.evidence_severity() > kMaintenanceSeverity;
  require(has_fault || (record.step == Step::kDrain && is_maintenance(*policy, after)),
          "announced-steps", what + " was intended, and the node has no fault");
  if (!is_maintenance(*policy, after)) return false;
  const auto takes = policy->maintenance.at(*policy->announced).drain_takes;
  const auto said = said_.find(after.node_uid);
  bool stands = false, is_due = false;
  for (const Said& one : said == said_.end() ? std::vector<Said>() : said->second) {
    const bool is_known = !one.until || *one.until > look.begun;
    const bool is_its = !one.what.is_stale && one.what.boot_id == look.node->boot_id;
    if (!is_known || !is_its || !has_steps(*policy, one.what.announced.kind)) continue;
    stands = true;
    is_due |= *record.intent_at >= one.what.announced.start - takes;
  }
  require(stands, "announced",
          what + " was intended, and nothing is announced of this machine in this boot");
  require(is_due, "announced-early", what + " was intended before its time");
  return true;
}

// Considers only announcements that the Node showed all the time since the replica began its look,
// and that the record has.
void AnnouncementRules::check_not_standing(const Remediation& owner,
                                           const std::string& what) const {
  const NodeTruth* const node = stage_.truth.node(owner.node);
  const auto said = said_.find(owner.node_uid);
  if (node == nullptr || said == said_.end() || stage_.restores > 0) return;
  const auto policy = policy_of(owner, node->node);
  if (!is_maintenance(*policy, owner)) return;
  for (const Said& one : said->second) {
    const bool stands = !one.until && one.since <= stage_.looks.back()->begun &&
                        has_steps(*policy, one.what.announced.kind);
    require(!stands || evidence_of(owner, one.what.announced) == nullptr, "announced-stands",
            what + " and " + one.what.announced.id + " stands");
  }
}

void AnnouncementRules::on_written(const Remediation& before, const Remediation& after) const {
  for (const StepRecord& record : after.status.steps) {
    if (record.step <= Step::kRestartJob || record.step >= Step::kReturn) continue;
    const StepRecord* const known = before.status.find(record.step);
    if (known != nullptr && known->intent_at == record.intent_at) continue;
    check_not_standing(before,
                       std::string(to_string(record.step)) + " of " + after.name + " was begun");
  }
}

void AnnouncementRules::check_returned(const Remediation& owner, const kube::Node& node) const {
  if (node.meta.uid == owner.node_uid)
    check_not_standing(owner, "node " + owner.node + " was returned");
}

void AnnouncementRules::check_begun(const Machine& machine, const CloudEvent& event,
                                    const Told& told) const {
  const NodeTruth* const node = stage_.truth.node(machine.name);
  const auto now = stage_.true_time();
  const auto said = node == nullptr ? said_.end() : said_.find(node->node.meta.uid);
  if (said == said_.end() || now - event.start < kToldWithin) return;
  const Clock::Steady by = stage_.clock.steady() - kKnownWithin;
  const bool is_said = calm_ <= by && stands_on(node->node, event.id) &&
                       std::ranges::any_of(said->second, [&](const Said& one) {
                         return !one.until && one.at <= by && one.what.announced.id == event.id;
                       });
  const auto policy = policy_for(stage_.meant.get(), node->node.meta.labels);
  if (!is_said || !policy->maintenance.contains(event.kind) || exclusion_of(*policy, node->node))
    return;
  const bool has_plan = has_steps(*policy, event.kind);
  const Announcement announced{.id = event.id, .kind = event.kind, .start = event.start};
  bool is_known = false;
  for (const auto& [name, one] : stage_.truth.remediations()) {
    is_known |= IdentityRules::is_cancelled(one, node->node);
    const AlertEvidence* const evidence = evidence_of(one, announced);
    if (one.node_uid != node->node.meta.uid || evidence == nullptr) continue;
    const bool is_just_closed =
        !one.open() && one.status.closed_at && now - *one.status.closed_at < kReadWithin;
    is_known |= one.open() || is_just_closed;
    const bool is_new = one.status.rule.empty();  // no replica has decided about it yet
    if (!one.open() || is_new || now - evidence->first_received < kLateWithin) continue;
    const auto own = policy_of(one, node->node);
    const bool is_left =
        one.wish.pause || one.status.phase == Phase::kPaused || one.status.phase == Phase::kHeld;
    if (!has_plan || !is_maintenance(*own, one) || is_left || !allows(own->mode, Step::kDrain))
      continue;
    const auto plan = steps_for(*own, one.acted_severity());
    const StepRecord* const drain = one.status.find(Step::kDrain);
    const bool is_drained = drain != nullptr && drain->result >= StepResult::kDone;
    require(!has_step(plan, Step::kDrain) || is_drained || told.knows(name, Phase::kWaiting),
            "announced-late",
            event.id + " begins, and " + name + " is not drained: " + one.status.message);
  }
  require(is_known, "announced-known",
          event.id + " of " + machine.name + " begins, and no record has it");
}

void AnnouncementRules::check_rest(const Machine& machine) const {
  const NodeTruth& node = *stage_.truth.node(machine.name);
  const auto said = said_.find(node.node.meta.uid);
  // A silent machine cannot show that it is healthy.
  const bool is_heard = !machine.silence.is_down && !machine.silence.is_unread;
  if (said == said_.end() || machine.fault >= Severity::kReset || !is_heard) return;
  if (std::ranges::any_of(said->second, [](const Said& one) { return !one.until; })) return;
  const bool is_repaired = node.node.meta.labels.contains("nvidia.com/mig.config.state");
  if (!is_ready(node.node) || is_repaired) return;
  for (const auto& [name, one] : stage_.truth.remediations()) {
    if (one.node_uid != node.node.meta.uid || !one.open() || one.wish.pause) continue;
    const auto policy = policy_of(one, node.node);
    const bool goes_back = is_maintenance(*policy, one) && allows(policy->mode, Step::kReturn) &&
                           has_step(steps_for(*policy, one.acted_severity()), Step::kReturn);
    const Phase phase = one.status.phase;
    const bool is_left =
        phase == Phase::kPaused || phase == Phase::kHeld || exclusion_of(*policy, node.node);
    require(!goes_back || is_left, "announced-back",
            name + " is open, and nothing is announced any more: " + one.status.message);
  }
}

}  // namespace gpuward::remediator::simulation
