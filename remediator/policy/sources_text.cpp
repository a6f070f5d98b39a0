#include "remediator/policy/sources_text.h"

#include "core/runtime/yaml_scalars.h"
#include "remediator/policy/policy_text.h"

namespace gpuward::remediator {
namespace {

constexpr const char* kEndsAtTheCordon = "; foreign: steps end at the cordon\n";

std::string severity_word(Severity severity) {
  return "severity " + std::string(to_string(severity));
}

std::string condition_text(const ConditionRule& rule, std::chrono::milliseconds buffer) {
  std::string text = "  condition " + rule.type + "=" + rule.status;
  if (rule.held_for.count() > 0) text += " for " + to_duration_text(rule.held_for);
  for (std::size_t i = 0; i < rule.labels.size(); ++i)
    text += (i == 0 ? " on nodes labelled " : ", ") + rule.labels[i];
  text += ": " + severity_word(rule.severity);
  if (!rule.drains) return text + kEndsAtTheCordon;
  return text + "; foreign: steps end at the drain, which begins at the earliest " +
         to_duration_text(buffer) + " after the last disruption\n";
}

std::string loki_text(const LokiRules& rules) {
  std::string text = "  with --loki.url, every " + to_duration_text(rules.every) +
                     ": kernel lines of " + rules.kernel_selector + " that match " +
                     rules.kernel_filter + ": severity of the Xid catalogue" + kEndsAtTheCordon;
  for (const PodLineRule& rule : rules.pod_lines) {
    text += "  with --loki.namespaces: pod lines with `" + rule.contains +
            "`: " + severity_word(rule.severity) + kEndsAtTheCordon;
  }
  if (rules.konduktor_taint)
    text += "    also set: taint trainy.konduktor.ai/faulty=true:NoSchedule\n";
  return text + "    a finding ends after " + to_duration_text(rules.quiet_for) +
         " without a new line\n";
}

std::string triage_text(const TriageRules& rules) {
  const std::string where = rules.kind == "openai" ? rules.url : "bedrock";
  return "  kernel lines that the catalogue does not know: sent to " + rules.model + " at " +
         where + ", at most " + std::to_string(rules.per_hour) + " lines an hour and " +
         std::to_string(rules.characters_per_day) + " characters a day; advised severity: " +
         std::string(to_string(to_severity(rules.max_severity))) + " at most" + kEndsAtTheCordon;
}

std::string silent_text(const SilentRules& rules) {
  std::string text = "  GPU nodes whose condition Ready has not been True for " +
                     to_duration_text(rules.after) + ": " + severity_word(kSilentSeverity) +
                     "; taint, cordon, notify";
  if (rules.moves_pods)
    text += ", then the taint out-of-service if a proof says that the machine is off";
  if (rules.reboots) text += ", then a restart after two proofs that the machine is down";
  if (rules.terminates) text += ", then termination after two proofs and an approval";
  text += "\n    no step begins if more than " + share_text(rules.at_most) +
          " of the fleet, a pool, a zone or another domain are silent, or if others fell silent at "
          "the same time\n";
  return text + "    if Prometheus still scrapes the node's exporter: the kubelet is down; " +
         severity_word(rules.kubelet) + kEndsAtTheCordon;
}

}  // namespace

std::string sources_text(const Policy& policy) {
  std::string text;
  for (const ConditionRule& rule : policy.conditions)
    text += condition_text(rule, policy.min_drain_interval);
  if (policy.silent.is_on) text += silent_text(policy.silent);
  if (policy.loki.is_configured) text += loki_text(policy.loki);
  if (policy.triage.is_on()) text += triage_text(policy.triage);
  if (!text.empty()) text = "findings besides alerts\n" + text;
  if (policy.cluster.empty()) return text;
  return "alerts\n  only those with the label cluster=" + policy.cluster + "\n" + text;
}

}  // namespace gpuward::remediator
