// The YAML of a policy:
//
//   mode: observe                      # observe | taint | cordon | full
//   severities:
//     isolate: [taint, cordon]
//     reboot: [taint, cordon]
//     reset: [taint, cordon]
//     monitor: []                      # recorded, never acted on
//   excluded:
//     nodes: [gpu-017]
//     labels: [team=research, do-not-touch]
//     control_plane: true
//   return_to_service:
//     enabled: false
//     max_report_age: 60s
#include <algorithm>

#include "remediator/policy/policy.h"

namespace gpuward::remediator {
namespace {

constexpr Severity kSeverities[] = {Severity::kIsolate, Severity::kReboot, Severity::kReset,
                                    Severity::kMonitor};

void read_mode(const YamlMap& root, Policy& policy) {
  std::string text(to_string(policy.mode));
  root.read("mode", text);
  if (const auto mode = parse_mode(text)) {
    policy.mode = *mode;
  } else {
    root.reject("mode", "must be one of observe, taint, cordon, full");
  }
}

void read_steps(const YamlMap& severities, Severity severity, Policy& policy) {
  const std::string key(to_string(severity));
  if (!severities.has(key)) return;
  std::vector<std::string> words;
  severities.read(key, words);
  if (severity == Severity::kMonitor && !words.empty()) {
    severities.reject(key, "monitor is recorded only: the list must be empty");
    return;
  }
  std::vector<Step> steps;
  for (const std::string& word : words) {
    const auto step = parse_step(word);
    if (!step || *step == Step::kReturn) {
      severities.reject(key, "each step must be one of taint, cordon");
      return;
    }
    if (std::find(steps.begin(), steps.end(), *step) != steps.end()) {
      severities.reject(key, "names a step twice");
      return;
    }
    steps.push_back(*step);
  }
  policy.steps[severity] = std::move(steps);
}

void read_excluded(const YamlMap& excluded, Exclusions& out) {
  std::vector<std::string> nodes;
  excluded.read("nodes", nodes);
  out.nodes.insert(nodes.begin(), nodes.end());
  excluded.read("labels", out.labels);
  for (const std::string& label : out.labels) {
    if (label.empty() || label.front() == '=') {
      excluded.reject("labels", "each entry must be `key` or `key=value`");
    }
  }
  excluded.read("control_plane", out.control_plane);
}

void read_return(const YamlMap& section, ReturnToService& out) {
  using std::chrono::hours;
  using std::chrono::seconds;
  section.read("enabled", out.enabled);
  section.read("max_report_age", out.max_report_age, seconds(1), hours(1));
}

}  // namespace

Result<Policy> read_policy(const YamlFile& file) {
  Policy policy;
  const YamlMap root = file.root();
  read_mode(root, policy);
  const YamlMap severities = root.map("severities");
  for (const Severity severity : kSeverities) read_steps(severities, severity, policy);
  read_excluded(root.map("excluded"), policy.excluded);
  read_return(root.map("return_to_service"), policy.return_to_service);
  if (auto status = file.finish(); !status) return std::unexpected(status.error());
  return policy;
}

}  // namespace gpuward::remediator
