// The readers of those sections of a policy that have a file of their own, and what they share.
// Absent keys keep their defaults; faults are reported to the file, whose finish() says them. Used
// by read_policy() and read_plan().
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

// Which repairs the policy has the means for.
[[nodiscard]] Means means_of(const Policy& policy, Preset preset = Preset::kStandard);

// `labels` of nodes, each `key` or `key=value`.
void read_node_labels(const YamlMap& map, std::vector<std::string>& out, std::string_view about);

// Of `nodes` and `percent` the larger counts; where one of them is given, the other is 0 unless it
// is given too.
void read_share(const YamlMap& map, Share& share);
[[nodiscard]] BudgetLimits read_budgets(const YamlMap& budgets);
// What may stand in a pool's own section; the rest is as in `limits`.
[[nodiscard]] PoolLimits read_pool_limits(const YamlMap& budgets, PoolLimits limits);
[[nodiscard]] JobsPolicy read_jobs(const YamlMap& section);
// The settings of `step`, which is a Job.
[[nodiscard]] JobSettings read_job_settings(const YamlMap& settings, Step step, JobSettings out);

// What holds for all nodes of which a pool says nothing.
struct PoolDefaults {
  const YamlMap& severities;
  const DrainSettings& drain;
  const Means& means;
  std::optional<Mode> highest;  // where the file says it; --mode may say another
  const std::map<Severity, std::vector<PlannedStep>>& steps;
  const JobsPolicy& jobs;
  const BudgetLimits& budgets;
};
[[nodiscard]] std::vector<PoolPolicy> read_pools(const YamlMap& root, const PoolDefaults& defaults);

// By severity, what follows where a node would be held for an operator.
[[nodiscard]] std::map<Severity, std::vector<PlannedStep>> read_recovery(const YamlMap& section);
// Reports a recovery that no node can ever go through: its steps drain no node, end the machine, or
// are the same diagnostics.
void refuse_dead_recoveries(const YamlMap& root, const Policy& policy);

}  // namespace gpuward::remediator
