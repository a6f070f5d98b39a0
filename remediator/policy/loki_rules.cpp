// The YAML of the rules, with its defaults:
//
//   loki:
//     kernel_selector: '{k8s_daemonset_name="dmesg"}'   # whose lines are the kernel's
//     kernel_filter: "(?i)(NVRM: (xid|GPU |The NVIDIA GPU |fallen )|SXid|nvidia-peermem)"
//     node_label: k8s_node_name
//     namespace_label: k8s_namespace_name
//     pod_lines:                       # in the namespaces of --loki.namespaces
//       - {contains: invalid device ordinal, severity: reset}
//     every: 5s
//     overlap: 2m                      # how late a line may come
//     quiet_for: 15m                   # a finding without a new line has ended
//     konduktor_taint: false           # also trainy.konduktor.ai/faulty=true:NoSchedule
#include "remediator/policy/loki_rules.h"

namespace gpuward::remediator {
namespace {

void require_text(const YamlMap& section, std::string_view key, std::string& out) {
  section.read(key, out);
  if (out.empty()) section.reject(key, "must not be empty");
}

PodLineRule read_pod_line(const YamlMap& map) {
  PodLineRule rule;
  map.require("contains", rule.contains);
  std::string word(to_string(rule.severity));
  map.read("severity", word);
  const auto severity = parse_severity(word);
  if (!severity || *severity == Severity::kNone)
    map.reject("severity", "must be one of isolate, reboot, reset, monitor");
  rule.severity = severity.value_or(Severity::kNone);
  return rule;
}

}  // namespace

LokiRules read_loki_rules(const YamlMap& section) {
  using std::chrono::minutes;
  using std::chrono::seconds;
  LokiRules rules;
  require_text(section, "kernel_selector", rules.kernel_selector);
  require_text(section, "kernel_filter", rules.kernel_filter);
  require_text(section, "node_label", rules.node_label);
  require_text(section, "namespace_label", rules.namespace_label);
  if (section.has("pod_lines")) {
    rules.pod_lines.clear();
    for (const YamlMap& map : section.maps("pod_lines"))
      rules.pod_lines.push_back(read_pod_line(map));
  }
  section.read("every", rules.every, seconds(1), minutes(10));
  // Beyond 5 minutes a restart could take an old line for a new one (kLateRepeats).
  section.read("overlap", rules.overlap, seconds(5), minutes(5));
  section.read("quiet_for", rules.quiet_for, minutes(1), std::chrono::hours(24 * 7));
  section.read("konduktor_taint", rules.konduktor_taint);
  return rules;
}

}  // namespace gpuward::remediator
