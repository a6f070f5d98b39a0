// The rules that make a dashboard readable for users who did not write it: those of Grafana's
// dashboard-linter under its names, and gpuward's own. The linter itself is not available: it needs
// modules that the Go proxy does not serve. Its two rules about LogQL have nothing to check here.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/runtime/json.h"

namespace gpuward::dashboards {

struct Problem {
  std::string panel;  // its title; empty for the dashboard as a whole
  std::string what;
};

struct LintRule {
  const char* name;
  std::vector<Problem> (*problems_of)(const Json& dashboard);
  void (*spoil)(Json& dashboard);  // breaks the rule in the dashboard
};

[[nodiscard]] std::span<const LintRule> lint_rules();

}  // namespace gpuward::dashboards
