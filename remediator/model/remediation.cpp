#include "remediator/model/remediation.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <tuple>
#include <utility>

#include "core/runtime/text.h"
#include "remediator/model/announced.h"
#include "remediator/model/error_class.h"

namespace gpuward::remediator {
namespace {

constexpr std::array<std::string_view, 18> kPhases = {
    "Pending",   "Observed",  "Quarantined", "Waiting",     "Collecting", "Draining",
    "Resetting", "Rebooting", "Testing",     "Terminating", "Verifying",  "Held",
    "Paused",    "Released",  "Ended",       "Replaced",    "Superseded", "Cancelled"};

}  // namespace

std::string_view to_string(Phase phase) { return kPhases[static_cast<std::size_t>(phase)]; }

std::optional<Phase> parse_phase(std::string_view text) {
  return enumerator_of<Phase>(kPhases, text);
}

bool is_open(Phase phase) { return phase <= Phase::kPaused; }

bool needs_operator(Phase phase) { return phase == Phase::kHeld || phase == Phase::kPaused; }

bool is_left_in_service(const RemediationStatus& status) {
  const bool is_refused = status.rule.starts_with("budget.") || status.rule == "guard.view";
  return status.phase == Phase::kWaiting && is_refused && !status.has_done(Step::kTaint) &&
         !status.has_done(Step::kCordon);
}

const StepRecord* RemediationStatus::find(Step step) const {
  const auto found =
      std::find_if(steps.begin(), steps.end(), [&](const StepRecord& s) { return s.step == step; });
  return found == steps.end() ? nullptr : &*found;
}

bool RemediationStatus::has_done(Step step) const {
  const StepRecord* record = find(step);
  return record != nullptr && record->result == StepResult::kDone;
}

bool Remediation::wants_us() const { return open() || !status.notices.empty() || must_be_let_go(); }

bool Remediation::must_be_let_go() const {
  return deleting && std::ranges::find(finalizers, kFinalizer) != finalizers.end();
}

bool Remediation::is_drill() const {
  return !alerts.empty() && std::ranges::all_of(alerts, &AlertEvidence::drill);
}

bool Remediation::counts(const AlertEvidence& alert) const {
  if (is_drill_beside(alert)) return false;
  return !announced_kind(alert) || acted_severity() <= Severity::kMonitor;
}

bool Remediation::any_firing() const {
  return std::ranges::any_of(
      alerts, [this](const AlertEvidence& alert) { return alert.firing() && counts(alert); });
}

Severity Remediation::firing_severity() const {
  Severity worst = Severity::kNone;
  for (const AlertEvidence& alert : alerts) {
    if (alert.firing() && !is_drill_beside(alert)) worst = std::max(worst, alert.severity);
  }
  return worst;
}

Severity Remediation::evidence_severity() const {
  if (!status.cleared) return severity;
  Severity worst = status.cleared->severity;
  for (const AlertEvidence& alert : alerts) {
    const bool is_over = alert.ended_at && *alert.ended_at < status.cleared->at;
    if (!is_over && !is_drill_beside(alert)) worst = std::max(worst, alert.severity);
  }
  if (dropped && dropped->at >= status.cleared->at) worst = std::max(worst, dropped->severity);
  return std::min(worst, severity);
}

bool Remediation::is_end_contested(Severity least) const {
  return std::ranges::any_of(alerts, [&](const AlertEvidence& alert) {
    return !alert.firing() && alert.contested && alert.severity >= least &&
           !is_drill_beside(alert) && !announced_kind(alert);
  });
}

const AlertEvidence* Remediation::orphaned_taints() const {
  const auto found = std::ranges::find_if(alerts, [](const AlertEvidence& alert) {
    return alert.firing() && alert.alertname == kOrphanedAlert &&
           alert.fingerprint.starts_with(kOrphanedOrigin);
  });
  return found == alerts.end() ? nullptr : &*found;
}

std::optional<WallTime> Remediation::ended_at() const {
  std::optional<WallTime> last;
  for (const AlertEvidence& alert : alerts) {
    if (!counts(alert)) continue;
    if (!alert.ended_at) return std::nullopt;
    last = std::max(last.value_or(*alert.ended_at), *alert.ended_at);
  }
  return last;
}

bool awaits_approval(const Remediation& remediation) {
  const RemediationStatus& status = remediation.status;
  return status.phase == Phase::kWaiting && status.approval && !status.approval->seen_at;
}

void remember_findings(const kube::Node& node, RemediationStatus& status) {
  std::vector<NodeFinding>& known = status.findings;
  const auto identity = [](const NodeFinding& one) {
    return std::tie(one.check, one.code, one.pci_bus_id);
  };
  const auto severity = [](const NodeFinding& one) {
    return parse_severity(one.severity).value_or(Severity::kNone);
  };
  for (NodeFinding& said : node_findings_of(node)) {
    const auto is_same = [&](const NodeFinding& one) { return identity(one) == identity(said); };
    if (std::ranges::any_of(known, is_same)) continue;
    const auto place =
        std::ranges::upper_bound(known, severity(said), std::ranges::greater{}, severity);
    known.insert(place, std::move(said));
  }
  known.resize(std::min(known.size(), kMostNodeFindings));
}

std::string error_class_of(const Remediation& remediation) {
  std::string worst = remediation.status.error_class;
  const bool any_fires = remediation.any_firing();
  for (const AlertEvidence& alert : remediation.alerts) {
    const bool counts = !remediation.is_drill_beside(alert) && (alert.firing() || !any_fires);
    if (counts && is_milder_class(worst, alert.error_class)) worst = alert.error_class;
  }
  return worst;
}

}  // namespace gpuward::remediator
