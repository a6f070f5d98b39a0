#include "remediator/policy/policy_text.h"

#include <algorithm>
#include <optional>
#include <sstream>
#include <vector>

#include "core/runtime/yaml_scalars.h"
#include "remediator/policy/policy_sections.h"
#include "remediator/policy/sources_text.h"

namespace gpuward::remediator {
namespace {

std::string drain_text(const DrainSettings& drain) {
  std::string text = drain.pods == DrainedPods::kGpu ? "pods that use GPUs" : "all pods";
  text += ", deadline " + to_duration_text(drain.deadline);
  switch (drain.on_deadline) {
    case OnDeadline::kHold:
      return text + ", then hold for an operator";
    case OnDeadline::kDelete:
      return text + ", then delete the pods that are left";
    case OnDeadline::kProceed:
      return text + ", then continue with the next step";
  }
  return text;
}

// The consequence of a failure of the step; empty if it fails with its drain or not at all.
std::string failure_text(const Policy& policy, Severity severity, const PlannedStep& planned) {
  const Step step = planned.step;
  if (is_taint_or_cordon(step) || step == Step::kDrain || step == Step::kReturn) return {};
  if (step == Step::kNotify) return "does not wait for any receiver";
  if (step == Step::kCollectEvidence && !policy.jobs.evidence.upload.empty())
    return "uploads to " + policy.jobs.evidence.upload + "; a failure does not stop the steps";
  if (may_fail(step)) return "a failure does not stop the steps";
  // Only mode full gets to such a step.
  Policy full = policy;
  full.mode = Mode::kFull;
  const auto worse = worse_with_steps(full, severity, planned.on_failure);
  if (!worse) return "on failure: hold for an operator";
  return "on failure: escalate to " + std::string(to_string(*worse));
}

void add(std::string& text, const std::string& joint, const std::string& more) {
  if (more.empty()) return;
  text += (text.empty() ? "" : joint) + more;
}

std::string program_text(const std::vector<std::string>& program) {
  return program.empty() ? std::string() : program.front();
}

std::string limits_text(const PlannedStep& step) {
  if (step.step == Step::kDrain) return drain_text(step.drain);
  std::string text;
  if (step.soak.count() > 0)
    add(text, ", ", to_duration_text(step.soak) + " of uninterrupted health");
  if (step.timeout.count() > 0) add(text, ", ", "at most " + to_duration_text(step.timeout));
  if (step.step == Step::kRestartJob) {
    const std::string program = program_text(step.program);
    add(text, ", ",
        "by " + (program.empty() ? "the restart mechanism of each job's kind" : program));
  }
  if (step.step == Step::kNcclTest || step.step == Step::kNcclPairs) {
    std::ostringstream bandwidth;
    bandwidth << step.job.min_bus_bandwidth;
    add(text, ", ", "at least " + bandwidth.str() + " GB/s");
  }
  if (step.step == Step::kNcclPairs) {
    add(text, ", ",
        "with nodes of the same jobs or, if no job is known, with nodes that failed within " +
            to_duration_text(step.job.together) + " of each other");
  }
  if (step.job.clears_latched)
    add(text, ", ", "a pass also clears findings that otherwise only an operator can clear");
  return text;
}

std::string wait_text(const WaitBefore& before) {
  std::string text;
  if (before.delay.count() > 0) {
    add(text, "", to_duration_text(before.delay) + " after the previous step");
  }
  if (!before.window.empty()) add(text, " and ", "for the maintenance window " + before.window);
  if (before.approval) add(text, " and ", "for an operator's approval");
  return text;
}

std::string scope_text(const std::string& scope, const ScopeLimit& limit) {
  std::string text = scope + " " + share_text(limit.at_once) + " at once";
  for (const WindowLimit& window : limit.windows) {
    text += ", " + share_text(window.share) + " in " + to_duration_text(window.window);
  }
  return "  budget: " + text + "\n";
}

std::string budgets_text(const BudgetLimits& budgets) {
  std::string text = scope_text("cluster", budgets.cluster) + scope_text("pool", budgets.pool) +
                     scope_text("zone", budgets.zone);
  for (const OwnPool& own : budgets.own_pools) {
    if (own.limits)
      text +=
          scope_text("nodes of pool " + own.pool.name + " of the policy", own.limits->disrupted);
  }
  for (const LabelLimit& label : budgets.labels) {
    text += scope_text("nodes with the same " + label.label, label.limit);
  }
  return text;
}

std::string machines_text(const MachineCommands& machines) {
  std::string restarts = machines.aws.reboot ? "EC2" : "";
  add(restarts, ", ", program_text(machines.reboot));
  add(restarts, ", ", machines.restarts_by_job ? "a Job on the node, if the node is Ready" : "");
  std::string ends = "the NodeClaim or Machine that owns the node";
  add(ends, ", ", machines.aws.terminate ? "EC2 or its Auto Scaling group" : "");
  add(ends, ", ", program_text(machines.terminate));
  return "machines\n  restarted by: " + (restarts.empty() ? "nothing" : restarts) +
         "\n  terminated by (first that applies): " + ends + "\n";
}

std::string step_text(std::size_t number, const PlannedStep& step, const std::string& on_failure) {
  std::string about = limits_text(step);
  add(about, "; ", on_failure);
  std::string text = "  " + std::to_string(number) + ". " + std::string(to_string(step.step)) +
                     (about.empty() ? "" : ": " + about) + "\n";
  if (const std::string waits = wait_text(step.before); !waits.empty()) {
    text += "       waits " + waits + "\n";
  }
  return text;
}

std::string recovery_text(const Policy& policy, Severity severity) {
  const auto& list = recovery_of(policy, policy.pool, severity);
  if (list.empty()) return {};
  std::string text = "  -- recovery, in mode full, instead of a hold for an operator --\n";
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Step step = list[i].step;
    const bool may_fail = is_diagnostic(step) || step == Step::kVerify;
    text += step_text(i + 1, list[i], may_fail ? "on failure: hold for an operator" : "");
  }
  return text;
}

std::string plan_text(const Policy& policy, Severity severity,
                      const std::vector<PlannedStep>& plan) {
  std::string text;
  bool is_cut = false;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const PlannedStep& step = plan[i];
    if (!is_cut && !allows(policy.mode, step.step)) {
      is_cut = true;
      text += "  -- mode " + std::string(to_string(policy.mode)) +
              " ends here; the steps below are skipped --\n";
    }
    const bool is_wait = &step == replacement_wait(plan);
    text += step_text(i + 1, step,
                      is_wait ? "waits for a replacement node; if none joins, hold for an operator"
                              : failure_text(policy, severity, step));
  }
  return text;
}

// Names the missing means for the severity's default steps after the cordon.
std::string missing_means_text(const Policy& policy, Severity severity,
                               const std::vector<PlannedStep>& plan) {
  const bool ends_at_cordon = std::ranges::all_of(
      plan, [](const PlannedStep& step) { return is_taint_or_cordon(step.step); });
  if (!ends_at_cordon) return {};
  const Means means = means_of(policy);
  if (severity == Severity::kReset && !means.gpu_reset)
    return "  no drain and no gpu-reset: set jobs.image, or a template for the Job\n";
  if (severity == Severity::kReboot && !means.reboot)
    return "  no drain and no reboot: set machines.aws.reboot, machines.reboot or "
           "machines.job.reboot\n";
  return {};
}

}  // namespace

std::string share_text(const Share& share) {
  std::ostringstream text;
  text << share.nodes;
  if (share.percent > 0) text << " or " << share.percent << " %";
  return text.str();
}

std::string severity_text(const Policy& policy, Severity severity) {
  const std::string text = "severity " + std::string(to_string(severity)) + "\n";
  const auto& plan = plan_of(policy, policy.pool, severity);
  if (plan.empty()) return text + "  recorded only\n";
  return text + plan_text(policy, severity, plan) + missing_means_text(policy, severity, plan) +
         recovery_text(policy, severity);
}

std::string maintenance_text(const Policy& policy) {
  std::string text = "announced by the cloud\n";
  for (const auto& [kind, rule] : policy.maintenance) {
    text += " " + std::string(to_string(kind)) + "\n";
    if (rule.steps.empty()) text += "  recorded; sinks are notified\n";
    text += plan_text(policy, kMaintenanceSeverity, rule.steps);
    const bool drains =
        std::ranges::find(rule.steps, Step::kDrain, &PlannedStep::step) != rule.steps.end();
    if (!drains) continue;
    text += "  the drain begins " + to_duration_text(rule.drain_takes) +
            " before the maintenance begins; later steps wait until the cloud reports its end\n";
  }
  return text;
}

std::string notifications_text(const NotificationPolicy& policy) {
  std::string text;
  for (const SinkSettings& sink : policy.sinks) {
    text += "  " + sink.name + " (" + sink.kind + "), severity " +
            std::string(to_string(sink.floor)) + " and worse:";
    for (const Moment moment : sink.moments) text += " " + std::string(to_string(moment));
    text += '\n';
  }
  return text.empty() ? text : "notified\n" + text;
}

std::string guards_text(const Policy& policy) {
  std::string text = "before each disruptive step\n";
  text += "  evidence: a report from the exporter, at most " +
          to_duration_text(policy.max_evidence_age) + " old, that has the same severity\n";
  text += "  other repairers: none active, and the node at least " +
          to_duration_text(policy.startup_grace) + " old\n";
  if (policy.cooldown.count() > 0) {
    text += "  cooldown: " + to_duration_text(policy.cooldown) +
            " after a reset or restart of the machine for another remediation\n";
  }
  text += budgets_text(policy.budgets);
  text += "before the taint\n  budget: at most " + share_text(policy.budgets.tainted) +
          " tainted, cordoned or disrupted in the cluster and in each pool\n";
  text += "before the cordon\n  budget: at most " + share_text(policy.budgets.cordoned) +
          " cordoned or disrupted in each pool\n";
  text += "when the alerts resolve before a step after the cordon has begun\n  ";
  text += policy.return_to_service.enabled
              ? "the node returns to service after a healthy report, at most " +
                    to_duration_text(policy.return_to_service.max_report_age) + " old\n"
              : "the node stays out of service until an operator returns it: return_to_service is "
                "not enabled\n";
  return text + machines_text(policy.machines);
}

std::string rules_text(const Policy& policy, std::optional<Severity> only) {
  std::string text;
  for (const Severity severity :
       {Severity::kIsolate, Severity::kReboot, Severity::kReset, Severity::kMonitor}) {
    if (only.value_or(severity) == severity) text += "\n" + severity_text(policy, severity);
  }
  if (!only) text += "\n" + maintenance_text(policy);
  if (const std::string sources = sources_text(policy); !sources.empty()) text += "\n" + sources;
  text += "\n" + guards_text(policy);
  const std::string told = notifications_text(policy.notifications);
  return told.empty() ? text : text + "\n" + told;
}

}  // namespace gpuward::remediator
