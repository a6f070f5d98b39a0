#include "remediator/workflow/reconciler.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "core/kube/names.h"
#include "remediator/actions/action.h"
#include "remediator/safety/node_mark.h"
#include "remediator/workflow/status_change.h"

namespace gpuward::remediator {
namespace {

using std::chrono::milliseconds;

// The API server says no and will say no again until somebody changes something.
bool is_permanent(ErrorKind kind) {
  return kind == ErrorKind::kForbidden || kind == ErrorKind::kInvalid ||
         kind == ErrorKind::kRefused;
}

std::string_view action_of(Verdict verdict) {
  if (verdict == Verdict::kQuarantine) return "quarantine";
  if (verdict == Verdict::kRelease) return "release";
  return {};
}

bool needs_attention(Phase phase) {
  return phase == Phase::kQuarantined || phase == Phase::kPaused;
}

}  // namespace

struct Reconciler::Case {
  Remediation remediation;
  std::optional<kube::Node> node;
  std::shared_ptr<const Policy> policy;
  Decision decision;
};

Result<std::optional<milliseconds>> Reconciler::reconcile(const std::string& node) {
  std::optional<milliseconds> soonest;
  for (const std::string& name : parts_.view.open_for(node)) {
    const auto look_again = reconcile_one(name);
    if (!look_again) return with_context("remediation " + name, look_again.error());
    if (*look_again) soonest = std::min(soonest.value_or(**look_again), **look_again);
  }
  return soonest;
}

Result<std::optional<milliseconds>> Reconciler::reconcile_one(const std::string& name) {
  auto remediation = parts_.store.read(name);
  if (!remediation) {
    if (remediation.error().kind != ErrorKind::kNotFound)
      return std::unexpected(remediation.error());
    parts_.view.remove_remediation(name);
    return std::nullopt;
  }
  parts_.view.put_remediation(*remediation);
  if (!remediation->open()) return std::nullopt;
  if (auto valid = kube::validate_node_name(remediation->node); !valid) {
    return std::unexpected(valid.error());
  }
  Case now{.remediation = std::move(*remediation),
           .node = {},
           .policy = parts_.policy.get(),
           .decision = {}};
  auto node = parts_.api.get_node(now.remediation.node);
  if (node) {
    now.node = std::move(*node);
  } else if (node.error().kind != ErrorKind::kNotFound) {
    return std::unexpected(node.error());
  }
  World world{
      .remediation = now.remediation, .node = now.node ? &*now.node : nullptr, .report = {}};
  now.decision = decide(*now.policy, world, parts_.clock.wall());
  if (now.decision.verdict == Verdict::kAskReport) {
    world.report = report_of(now.remediation.node);
    now.decision = decide(*now.policy, world, parts_.clock.wall());
  }
  if (auto status = carry_out(now); !status) return std::unexpected(status.error());
  if (auto status = weigh_evidence(now); !status) return std::unexpected(status.error());
  return now.decision.look_again;
}

Result<HealthReport> Reconciler::report_of(const std::string& node) {
  if (parts_.reports == nullptr) {
    return fail(ErrorKind::kNotFound, "no --prometheus.url is set to read it from");
  }
  auto report = parts_.reports->latest(node);
  // The status says only that there is none; the details are for the log.
  const bool is_news = !report && report.error().kind != ErrorKind::kNotFound &&
                       report.error().kind != ErrorKind::kOverloaded;
  if (is_news) parts_.observer.on_error(node, report.error());
  return report;
}

Status Reconciler::carry_out(Case& now) {
  if (!action_of(now.decision.verdict).empty()) return act(now);
  const Phase before = now.remediation.status.phase;
  const auto next =
      with_decision(now.remediation.status, now.decision, now.policy->mode, parts_.clock.wall());
  if (next == now.remediation.status) return {};
  if (auto status = write(now, next); !status) return status;
  audit(now, AuditMoment::kDecided);
  announce(now, before);
  return {};
}

// After the act: a node that must leave never waits for Prometheus.
Status Reconciler::weigh_evidence(Case& now) {
  const Remediation& remediation = now.remediation;
  if (parts_.reports == nullptr || !remediation.open() || !remediation.any_firing()) return {};
  const auto report = report_of(remediation.node);
  if (!report || report->boot_id != remediation.boot_id) return {};
  RemediationStatus next = remediation.status;
  next.kernel_severity = report->kernel_severity;
  return next == remediation.status ? Status() : write(now, next);
}

Status Reconciler::act(Case& now) {
  const Phase before = now.remediation.status.phase;
  const ActionOrder order{.remediation = now.remediation,
                          .steps = now.decision.steps,
                          .why = now.decision.message,
                          .now = parts_.clock.wall()};
  const auto plan = action(action_of(now.decision.verdict)).plan(order, *now.node);
  if (plan) {
    if (auto status = record_intent(now, *plan); !status) return status;
    const auto changed = parts_.api.change_node(*now.node, plan->change);
    if (!changed) return record_failure(now, changed.error());
  }
  const auto next =
      with_results(now.remediation.status, now.decision, now.policy->mode, parts_.clock.wall());
  if (next == now.remediation.status) return {};
  if (auto status = write(now, next); !status) return status;
  audit(now, AuditMoment::kDone);
  announce(now, before);
  return {};
}

// Written before the node is touched. After a crash or a conflict the same intent stands already.
Status Reconciler::record_intent(Case& now, const NodePlan& plan) {
  RemediationStatus known = now.remediation.status;
  if (plan.pre_existing_cordon) known.pre_existing_cordon = plan.pre_existing_cordon;
  const auto next = with_intents(known, now.decision, now.policy->mode, parts_.clock.wall());
  if (says_the_same(next, now.remediation.status)) return {};
  if (auto status = write(now, next); !status) return status;
  audit(now, AuditMoment::kDecided);
  return {};
}

Status Reconciler::record_failure(Case& now, const Error& error) {
  if (error.kind == ErrorKind::kConflict) return std::unexpected(error);  // redo from the start
  audit(now, AuditMoment::kFailed, error.message);
  if (is_permanent(error.kind)) {
    // Best effort: the failure itself is what must reach the caller.
    (void)write(now, with_failure(now.remediation.status, error.message, parts_.clock.wall()));
  }
  return with_context("changing node " + now.remediation.node, error);
}

Status Reconciler::write(Case& now, const RemediationStatus& next) {
  Remediation wanted = now.remediation;
  wanted.status = next;
  auto written = parts_.store.write_status(wanted);
  if (!written) return with_context("writing the status", written.error());
  now.remediation = std::move(*written);
  parts_.view.put_remediation(now.remediation);
  return {};
}

void Reconciler::audit(const Case& now, AuditMoment moment, const std::string& error) {
  parts_.observer.on_audit({.moment = moment,
                            .at = parts_.clock.wall(),
                            .remediation = now.remediation,
                            .decision = now.decision,
                            .action = action_of(now.decision.verdict),
                            .error = error});
}

void Reconciler::announce(const Case& now, Phase before) {
  const Phase phase = now.remediation.status.phase;
  const bool acted = !action_of(now.decision.verdict).empty();
  if (phase == before && !acted) return;
  kube::NodeEvent event;
  event.node = now.remediation.node;
  event.node_uid = now.remediation.node_uid;
  event.warning = needs_attention(phase);
  event.reason = "Gpuward" + std::string(to_string(phase));
  event.message = now.remediation.name + ": " + now.decision.message;
  event.component = std::string(kOwner);
  parts_.announcer.announce(std::move(event));
}

}  // namespace gpuward::remediator
