// alerts/gpuward.rules.yaml as the tests of its conventions read it. promtool and the rule tests in
// this folder check the results of the expressions.
#pragma once

#include <filesystem>
#include <map>
#include <ostream>
#include <string>
#include <vector>

namespace gpuward::alerts {

struct AlertRule {
  std::string name, group, expr, wait;  // wait: the text of `for`
  std::map<std::string, std::string> labels, annotations;

  [[nodiscard]] std::string label(const std::string& key) const {
    const auto at = labels.find(key);
    return at == labels.end() ? "" : at->second;
  }
};

void PrintTo(const AlertRule& rule, std::ostream* out);

[[nodiscard]] std::filesystem::path alerts_folder();
[[nodiscard]] std::filesystem::path rules_file();
// Leaves out recording rules. Throws if the file cannot be read: a broken checkout.
[[nodiscard]] std::vector<AlertRule> load_alert_rules(
    const std::filesystem::path& path = rules_file());
// Names of metrics of gpuward, Alertmanager and Prometheus in the expressions of all rules and in
// the queries of their annotations.
[[nodiscard]] std::vector<std::string> metrics_in_rules();

}  // namespace gpuward::alerts
