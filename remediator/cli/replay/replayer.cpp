#include "remediator/cli/replay/replayer.h"

#include <algorithm>
#include <array>
#include <utility>

#include "remediator/act/actions/step_progress.h"
#include "remediator/act/taint_and_cordon.h"
#include "remediator/cluster/replacements.h"
#include "remediator/cluster/view_queries.h"
#include "remediator/decide/budgets/slot_claim.h"
#include "remediator/decide/status_change.h"
#include "remediator/inbox/remediation_intake.h"
#include "remediator/model/diagnostics.h"
#include "remediator/policy/policy_for_remediation.h"

namespace gpuward::remediator {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;

constexpr std::array<std::string_view, 6> kKinds = {"alert", "act", "begin", "done", "wait", "end"};
constexpr int kMostTurns = 32;  // at one moment: no plan has more steps
// A waiting node is checked no more often: a history spans weeks.
constexpr milliseconds kReplayInterval = minutes(1);

// How long a step usually takes.
milliseconds usual_time(const PlannedStep& step) {
  switch (step.step) {
    case Step::kDrain:
    case Step::kReboot:
    case Step::kTerminate:
      return minutes(10);
    case Step::kCollectEvidence:
      return minutes(1);
    case Step::kGpuReset:
      return minutes(2);
    case Step::kQuarantineJob:
      return minutes(30);
    case Step::kNcclTest:
    case Step::kNcclPairs:
      return minutes(5);
    case Step::kVerify:
      return step.soak;
    case Step::kTaint:
    case Step::kCordon:
    case Step::kNotify:
    case Step::kOutOfService:
    case Step::kRestartJob:
    case Step::kReturn:
      return milliseconds(0);
  }
  return milliseconds(0);
}

bool treats_the_fault(Step step) { return step == Step::kGpuReset || step == Step::kReboot; }

std::string names_of(const std::vector<Step>& steps) {
  std::string text;
  for (const Step step : steps) text += (text.empty() ? "" : ", ") + std::string(to_string(step));
  return text;
}

// The exporter of such a node reports the severity of its alerts, measured just now.
HealthReport report_of(const Remediation& remediation, const std::optional<kube::Node>& node,
                       WallTime now) {
  HealthReport report;
  report.measured_at = now;
  report.boot_id = node ? node->boot_id : "";
  report.sees_kernel_log = true;
  for (const AlertEvidence& alert : remediation.alerts) {
    if (alert.firing() && !alert.foreign)
      report.severity = std::max(report.severity, alert.severity);
  }
  report.confirmed_severity = report.severity;
  report.observed_at[report.severity] = now;
  return report;
}

}  // namespace

struct Replayer::Case {
  Remediation remediation;
  std::optional<kube::Node> node;
  std::shared_ptr<const Policy> policy;
  WallTime at;
  Decision decision = {};
};

std::string_view to_string(ReplayEvent::Kind kind) {
  return kKinds[static_cast<std::size_t>(kind)];
}

Replayer::Replayer(std::shared_ptr<const Policy> policy, const std::vector<kube::Node>& nodes,
                   ReplayOptions options)
    : policy_(std::move(policy)), options_(options), cluster_(policy_->budgets, nodes) {}

void Replayer::take(const AlertSignal& signal, WallTime now) {
  const auto identity = identity_in(cluster_.view(), signal.node);
  if (!identity) return;
  FoldedSignals folded = fold_signals(*identity, remediations_of(cluster_.view(), identity->uid),
                                      std::span(&signal, 1), now);
  if (!folded.changed) return;
  if (folded.is_new) folded.remediation.created = now;
  cluster_.keep(folded.remediation);
  if (!signal.firing) return;
  events_.push_back({.at = now,
                     .node = signal.node,
                     .kind = ReplayEvent::Kind::kAlert,
                     .rule = {},
                     .text = signal.alertname + " fires, severity " +
                             std::string(to_string(signal.severity)) +
                             (signal.foreign ? ", not from gpuward's rules" : ""),
                     .steps = {}});
}

std::optional<milliseconds> Replayer::look(const std::string& node, WallTime now) {
  std::optional<milliseconds> again;
  for (int turn = 0; turn < kMostTurns; ++turn) {
    auto remediation = cluster_.open_of(node);
    if (!remediation) return std::nullopt;
    Case one{.remediation = std::move(*remediation),
             .node = cluster_.find(node),
             .policy = policy_,
             .at = now};
    one.policy = policy_for(policy_, one.node ? &*one.node : nullptr, one.remediation);
    ledger_ = with_arrival(std::move(ledger_), one.remediation, one.policy->budgets,
                           fleet_size(cluster_.view()), now);
    one.decision = decide_in_the_past(one);
    const bool has_more = carry_out(one);
    again = one.decision.look_again;
    if (!has_more) break;
  }
  if (!again) return std::nullopt;
  return std::max(*again, kReplayInterval);
}

Answers::Slot Replayer::ask_slot(const Case& now, Step step, bool only_worn_out) {
  auto request = slot_request(now.remediation, *now.node, step);
  if (!request) return std::nullopt;
  SlotClaim claim{.remediation = now.remediation,
                  .step = step,
                  .request = *std::move(request),
                  .policy = *now.policy,
                  .now = now.at,
                  .refusal = {},
                  .only_asks = only_worn_out};
  with_fleet(cluster_.view(),
             [&](const Fleet& fleet) { ledger_ = with_claim(std::move(ledger_), fleet, claim); });
  return claim.refusal;
}

// Approvals count without a check, because no API server guards those of a history.
class Replayer::Past final : public Answers {
 public:
  Past(Replayer& replayer, const Case& now) : replayer_(replayer), now_(now) {}

  Result<HealthReport> report() override { return report_of(now_.remediation, now_.node, now_.at); }
  std::optional<Result<Alerts>> alerts() override { return std::nullopt; }
  Result<MachineProofs> proofs() override {
    return fail(ErrorKind::kNotFound, "no proof that the machine is down");
  }
  Status approval_guard() override { return {}; }
  Slot worn_out(Step step) override { return replayer_.ask_slot(now_, step, true); }
  Slot slot(Step step) override { return replayer_.ask_slot(now_, step, false); }

 private:
  Replayer& replayer_;
  const Case& now_;
};

Decision Replayer::decide_in_the_past(Case& now) {
  Past past(*this, now);
  const auto decide_now = [&] {
    const DecisionInputs inputs{.remediation = now.remediation,
                                .node = now.node ? &*now.node : nullptr};
    return decide(*now.policy, inputs, past, now.at);
  };
  Decision decision = decide_now();
  const bool is_to_be_approved = decision.rule == "guard.approval" && decision.approval;
  if (!is_to_be_approved || !options_.approves_all) return decision;
  now.remediation.status.approval = decision.approval;
  now.remediation.wish.approved_token = decision.approval->token;
  now.remediation.wish.approved_by = "the replay";
  return decide_now();
}

bool Replayer::carry_out(Case& now) {
  switch (now.decision.verdict) {
    case Verdict::kQuarantine:
    case Verdict::kRelease:
      act(now);
      return true;
    case Verdict::kBegin:
      begin(now);
      return true;
    case Verdict::kWatch:
      return watch(now);
    case Verdict::kEscalate:
    case Verdict::kLower:
    case Verdict::kClose:
    case Verdict::kRecord:
    case Verdict::kHold:
    case Verdict::kPause:
      break;
  }
  const RemediationStatus before = now.remediation.status;
  now.remediation.status = with_decision(before, now.decision, now.policy->mode, now.at);
  if (now.remediation.status == before) return false;
  cluster_.keep(now.remediation);
  if (!now.remediation.open()) {
    close(now);
    return false;
  }
  // The text of a wait contains times and tokens, so waits are compared by rule.
  std::string& said = said_[now.remediation.name];
  if (said != now.decision.rule)
    write(ReplayEvent::Kind::kWait, now,
          now.decision.rule == "guard.approval"
              ? std::string(to_string(now.decision.step->step)) + " waits for approval"
              : now.decision.message);
  said = now.decision.rule;
  return now.decision.verdict == Verdict::kEscalate || now.decision.verdict == Verdict::kLower;
}

void Replayer::act(Case& now) {
  const bool releases = now.decision.verdict == Verdict::kRelease;
  const PlanRequest request{.remediation = now.remediation,
                            .steps = now.decision.steps,
                            .why = now.decision.message,
                            .now = now.at};
  if (const auto plan = (releases ? plan_release : plan_quarantine)(request, *now.node)) {
    if (plan->pre_existing_cordon)
      now.remediation.status.pre_existing_cordon = plan->pre_existing_cordon;
    kube::Node node = *now.node;
    apply(plan->change, node);
    cluster_.put(std::move(node));
    if (!releases) {
      write(ReplayEvent::Kind::kAct, now,
            names_of(now.decision.steps) + ": " + now.decision.message, now.decision.steps);
    }
  }
  now.remediation.status =
      with_results(now.remediation.status, now.decision, now.policy->mode, now.at);
  cluster_.keep(now.remediation);
  said_.erase(now.remediation.name);
  if (!now.remediation.open()) close(now);
}

void Replayer::begin(Case& now) {
  const PlannedStep& step = *now.decision.step;
  // As for a Job: a passed test counts only in that boot.
  const Facts facts = is_job(step.step) ? Facts{{kJobBootFact, now.node->boot_id}} : Facts();
  now.remediation.status =
      with_begin(now.remediation.status, now.decision, now.remediation.acted_severity(),
                 now.policy->mode, facts, now.at);
  now.remediation.wish.approved_token.clear();
  ends_[now.remediation.name] = now.at + usual_time(step);
  write(ReplayEvent::Kind::kBegin, now, std::string(to_string(step.step)), {step.step});
  said_.erase(now.remediation.name);
  cluster_.keep(now.remediation);
}

bool Replayer::watch(Case& now) {
  const auto ends = ends_.try_emplace(now.remediation.name, now.at).first->second;
  if (now.at < ends) {
    now.decision.look_again = std::chrono::ceil<milliseconds>(ends - now.at);
    return false;
  }
  finish(now);
  return true;
}

void Replayer::finish(Case& now) {
  const Step step = now.decision.step->step;
  const bool is_of_node = !now.remediation.status.has_done(Step::kTerminate);
  const bool is_still_unhealthy =
      step == Step::kVerify && is_of_node && now.remediation.any_firing();
  StepProgress progress{.result = is_still_unhealthy ? StepResult::kFailed : StepResult::kDone,
                        .message = is_still_unhealthy ? "alerts are still firing" : "done",
                        .facts = now.remediation.status.find(step)->facts,
                        .look_again = {}};
  if (step == Step::kVerify && now.node) progress.facts[kVerifiedBootFact] = now.node->boot_id;
  if (!is_of_node) progress.facts[kReplacementFact] = replaced_by_[now.remediation.name];
  now.remediation.status =
      with_progress(now.remediation.status, now.decision, progress, {}, now.at);
  ends_.erase(now.remediation.name);
  write(
      ReplayEvent::Kind::kDone, now,
      std::string(to_string(step)) + (is_still_unhealthy ? " failed: alerts are still firing" : ""),
      {step});
  if (treats_the_fault(step)) heal(now);
  cluster_.keep(now.remediation);
  if (step == Step::kTerminate && now.node)
    replaced_by_[now.remediation.name] = cluster_.replace(*now.node);
}

// Assumes that the step has healed the fault; the history cannot tell, because the fault was not
// treated in it.
void Replayer::heal(Case& now) {
  for (AlertEvidence& alert : now.remediation.alerts) {
    if (alert.firing()) alert.ended_at = now.at;
  }
  kube::Node node = *now.node;
  if (now.decision.step->step == Step::kReboot) node.boot_id += "-" + std::to_string(++boots_);
  cluster_.put(std::move(node));
}

void Replayer::close(Case& now) {
  ledger_ = without_slot(std::move(ledger_), now.remediation.name);
  ends_.erase(now.remediation.name);
  said_.erase(now.remediation.name);
  replaced_by_.erase(now.remediation.name);
  write(ReplayEvent::Kind::kEnd, now,
        std::string(to_string(now.remediation.status.phase)) + ": " + now.decision.message);
}

void Replayer::write(ReplayEvent::Kind kind, const Case& now, std::string text,
                     std::vector<Step> steps) {
  events_.push_back({.at = now.at,
                     .node = now.remediation.node,
                     .kind = kind,
                     .rule = now.decision.rule,
                     .text = std::move(text),
                     .steps = std::move(steps)});
}

}  // namespace gpuward::remediator
