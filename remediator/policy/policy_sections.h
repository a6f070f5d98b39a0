// The readers of those sections of a policy that have a file of their own, and their common parts.
// Absent keys keep their defaults; faults are reported to the file, whose finish() returns them.
// Used by read_policy() and read_plan().
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "remediator/policy/policy.h"

namespace gpuward::remediator {

inline const auto kModeWords = yaml_words<Mode, 4>();
inline const auto kPresetWords = yaml_words<Preset, 2>();
inline constexpr YamlWord<Severity> kSeverityWords[] = {{"isolate", Severity::kIsolate},
                                                        {"reboot", Severity::kReboot},
                                                        {"reset", Severity::kReset},
                                                        {"monitor", Severity::kMonitor}};

// Returns the kinds of repair for which the policy has the means.
[[nodiscard]] Means means_of(const Policy& policy, Preset preset = Preset::kStandard);

// Reads `labels` of nodes, each `key` or `key=value`.
void read_node_labels(const YamlMap& map, std::vector<std::string>& out, std::string_view about);

// Reads a share; the larger of `nodes` and `percent` counts. If only one key is given, the other is
// 0.
void read_share(const YamlMap& map, Share& share);
[[nodiscard]] BudgetLimits read_budgets(const YamlMap& budgets);
// Reads the keys that a pool's own section may have; other values come from `limits`.
[[nodiscard]] PoolLimits read_pool_limits(const YamlMap& budgets, PoolLimits limits);
[[nodiscard]] JobsPolicy read_jobs(const YamlMap& section);
// Reads the settings of `step`, which is a Job.
[[nodiscard]] JobSettings read_job_settings(const YamlMap& settings, Step step, JobSettings out);

// The settings for all nodes, used if a pool has none.
struct PoolDefaults {
  const YamlMap& severities;
  const DrainSettings& drain;
  const Means& means;
  std::optional<Mode> highest;  // Set if the file sets a mode; --mode may set another mode.
  const std::map<Severity, std::vector<PlannedStep>>& steps;
  const JobsPolicy& jobs;
  const BudgetLimits& budgets;
};
[[nodiscard]] std::vector<PoolPolicy> read_pools(const YamlMap& root, const PoolDefaults& defaults);

// Reads, by severity, the steps for a node that would otherwise be held for an operator.
[[nodiscard]] std::map<Severity, std::vector<PlannedStep>> read_recovery(const YamlMap& section);
// Reports a recovery that no node can go through: the severity's steps drain no node, terminate the
// machine, or have the same diagnostics.
void refuse_dead_recoveries(const YamlMap& root, const Policy& policy);

}  // namespace gpuward::remediator
