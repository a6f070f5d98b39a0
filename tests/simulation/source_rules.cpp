#include "tests/simulation/source_rules.h"

#include <algorithm>

#include "remediator/inbox/sources/alertmanager_alerts.h"
#include "remediator/inbox/sources/log_cursor.h"
#include "remediator/model/evidence.h"
#include "remediator/policy/condition_rules.h"
#include "tests/simulation/identity_rules.h"

namespace gpuward::remediator::simulation {
namespace {

using std::chrono::floor;
using std::chrono::seconds;

const std::string kCursor =
    "/api/v1/namespaces/" + kStateNamespace + "/configmaps/" + kLogCursorName;

// A line of a node that no view has yet belongs to no record, and a view may receive nothing for
// minutes.
constexpr std::chrono::minutes kUnknownFor{10};
// Longest time between a look and an end that rests on it: a process may stall twice.
constexpr seconds kOnTheWay{180};

WallTime time_of(const KernelLine& line) {
  return WallTime(
      std::chrono::duration_cast<WallTime::duration>(std::chrono::nanoseconds(line.at)));
}

}  // namespace

SourceRules::SourceRules(Stage& stage, const Fleet& fleet, const AnsweringPlaces& places)
    : stage_(stage), fleet_(fleet), places_(places) {
  stage.on_rewritten.emplace_back([this](const Remediation& before, const Remediation& after) {
    for (const AlertEvidence& alert : before.alerts) {
      if (alert.firing()) check_ended(after, alert);
    }
  });
}

// Without an Alertmanager that confirms ends, a client with the webhook's token can end any alert.
bool SourceRules::is_believed(const AlertEvidence& alert) const {
  const bool is_of_webhook = alert.fingerprint.find('.') == std::string::npos;
  return is_of_webhook && stage_.setting.says_late && !stage_.setting.has_alertmanager;
}

void SourceRules::check_ended(const Remediation& after, const AlertEvidence& before) const {
  const auto now = std::ranges::find(after.alerts, before.fingerprint, &AlertEvidence::fingerprint);
  if (now == after.alerts.end() || now->firing() || is_believed(before)) return;
  require(!still_says(after, before), "ended-while-firing",
          after.name + ": " + before.alertname + " (" + before.fingerprint +
              ") has ended, and its place says it all the time");
}

// Whether the source has reported the alert without a break since it began.
bool SourceRules::still_says(const Remediation& owner, const AlertEvidence& alert) const {
  const NodeTruth* const node = stage_.truth.node(owner.node);
  const auto machine = std::ranges::find(fleet_.machines(), owner.node, &Machine::name);
  if (node == nullptr || node->node.meta.uid != owner.node_uid ||
      machine == fleet_.machines().end())
    return false;
  if (alert.fingerprint.starts_with(kConditionOrigin)) {
    const Problem& problem = machine->problem;
    return problem.status != "False" && floor<seconds>(problem.last_false) <= alert.starts_at;
  }
  if (alert.fingerprint.starts_with(kLokiOrigin)) {
    // Loki gives the time of its clock in whole seconds.
    const WallTime quiet = stage_.true_time() - stage_.setting.policy.loki.quiet_for + seconds(1);
    return std::ranges::any_of(places_.lines(), [&](const KernelLine& line) {
      return line.node_uid == owner.node_uid && time_of(line) > quiet &&
             line.visible + kOnTheWay < stage_.clock.steady();
    });
  }
  const std::string_view bare = without_origin(alert.fingerprint);
  for (const FiringAlert& firing : machine->firing()) {
    if (firing.fingerprint == bare) return firing.starts_at <= alert.starts_at;
  }
  return false;
}

bool SourceRules::is_known(const kube::Node& node, std::string_view fingerprint) const {
  return std::ranges::any_of(stage_.truth.remediations(), [&](const auto& known) {
    const Remediation& one = known.second;
    if (IdentityRules::is_cancelled(one, node)) return true;
    if (one.node_uid != node.meta.uid || !one.open()) return false;
    return std::ranges::any_of(one.alerts, [&](const AlertEvidence& alert) {
      return alert.firing() && without_origin(alert.fingerprint) == fingerprint;
    });
  });
}

void SourceRules::check_known(const Machine& machine, WallTime calm,
                              std::chrono::minutes in_time) const {
  const kube::Node& node = stage_.truth.node(machine.name)->node;
  const WallTime created = node.meta.created.value_or(WallTime());
  const WallTime now = stage_.clock.wall();
  const auto require_known = [&](std::string_view fingerprint, WallTime since,
                                 const std::string& what) {
    if (since <= created || now - std::max(calm, since) < in_time) return;
    require(is_known(node, fingerprint), "heard",
            machine.name + ": " + what + ", and no record has it");
  };
  for (const FiringAlert& alert : machine.firing()) {
    // A drill beside a fault is lost with its record, until its alert is repeated.
    if (alert.severity >= Severity::kReset && !alert.drill)
      require_known(alert.fingerprint, alert.starts_at, "alert " + alert.fingerprint + " fires");
  }
  if (stage_.setting.places.conditions && machine.problem.status == "True")
    require_known(fingerprint_of(stage_.setting.policy.conditions.front()), machine.problem.since,
                  std::string(kProblem) + " is True");
}

void SourceRules::note_cursor() {
  if (stage_.setting.places.logs && !reads_since_ && stage_.kube.has(kCursor))
    reads_since_ = stage_.true_time();
}

// Checks the last line only: it repeats the earlier ones.
void SourceRules::check_lines(const Machine& machine) const {
  const Setting& setting = stage_.setting;  // Lines have the nodes' time, Nodes the API server's
  const bool is_forgotten = stage_.deletions > 0 || stage_.restores > 0 || setting.has_edits;
  if (!reads_since_ || is_forgotten || setting.has_clock_jumps) return;
  const kube::Node& node = stage_.truth.node(machine.name)->node;
  const KernelLine* last = nullptr;
  for (const KernelLine& line : places_.lines()) {
    if (line.node_uid == node.meta.uid && (last == nullptr || line.at > last->at)) last = &line;
  }
  if (last == nullptr || time_of(*last) <= *reads_since_ ||
      time_of(*last) <= node.meta.created.value_or(WallTime()) + kUnknownFor)
    return;
  const std::string fingerprint = fingerprint_of_lines(machine.name);
  const bool is_heard = std::ranges::any_of(stage_.truth.remediations(), [&](const auto& known) {
    return known.second.node_uid == node.meta.uid &&
           std::ranges::any_of(known.second.alerts, [&](const AlertEvidence& alert) {
             return alert.fingerprint == fingerprint &&
                    (alert.firing() || *alert.ended_at >= time_of(*last));
           });
  });
  require(is_heard, "line-lost",
          machine.name + ": what the kernel wrote at " + to_rfc3339(time_of(*last)) +
              " is in no record");
}

}  // namespace gpuward::remediator::simulation
