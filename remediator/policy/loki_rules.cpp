#include "remediator/policy/loki_rules.h"

#include "remediator/policy/policy_sections.h"

namespace gpuward::remediator {
namespace {

void read_text(const YamlMap& section, std::string_view key, std::string& out,
               std::string_view about) {
  section.read(key, out, about);
  if (out.empty()) section.reject(key, "must not be empty");
}

PodLineRule read_pod_line(const YamlMap& map) {
  PodLineRule rule;
  map.require("contains", rule.contains, "text that the line contains");
  map.read_word("severity", rule.severity, kSeverityWords, "severity of the finding");
  return rule;
}

}  // namespace

LokiRules read_loki_rules(const YamlMap& section) {
  using std::chrono::minutes;
  using std::chrono::seconds;
  LokiRules rules;
  read_text(section, "kernel_selector", rules.kernel_selector,
            "LogQL selector of the streams with kernel lines");
  read_text(
      section, "kernel_filter", rules.kernel_filter,
      "RE2 filter for the kernel lines that Loki returns; default: those about the NVIDIA driver");
  read_text(section, "node_label", rules.node_label, "the label that names the node");
  read_text(section, "namespace_label", rules.namespace_label,
            "the label that names the namespace");
  if (section.has("pod_lines")) {
    rules.pod_lines.clear();
    for (const YamlMap& map :
         section.maps("pod_lines",
                      "pod log lines in `--loki.namespaces` that count as "
                      "findings; default: `invalid device ordinal` has severity `reset`"))
      rules.pod_lines.push_back(read_pod_line(map));
  }
  section.read("every", rules.every, seconds(1), minutes(10), "how often Loki is queried");
  // With more than 5 minutes, an old line could count as a new one after a restart (kLateRepeats).
  section.read("overlap", rules.overlap, seconds(5), minutes(5), "how late a line may arrive");
  section.read("quiet_for", rules.quiet_for, minutes(1), std::chrono::hours(24 * 7),
               "a finding ends after this time without a new line");
  section.read("konduktor_taint", rules.konduktor_taint,
               "also set the taint `trainy.konduktor.ai/faulty=true:NoSchedule`");
  return rules;
}

}  // namespace gpuward::remediator
