// One entry of a severity's list in the policy: a step, the conditions before it, and its own
// settings. Immutable values; read from YAML by read_plan().
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "core/model/severity.h"
#include "core/runtime/yaml.h"
#include "remediator/model/step.h"
#include "remediator/policy/drain_settings.h"
#include "remediator/policy/job_settings.h"

namespace gpuward::remediator {

// How long gpuward waits for volumes that are still attached to a node before it terminates the
// node. Another node that gets the volumes too early would find them in use, or write to them at
// the same time.
struct VolumeWait {
  std::chrono::milliseconds deadline{std::chrono::minutes(10)};  // Time after the drain.
  // True: proceed after the deadline. False: gpuward asks an operator.
  bool proceeds = false;

  friend bool operator==(const VolumeWait&, const VolumeWait&) = default;
};

// The conditions before a step, written as `wait: {...}` before the step in the list.
struct WaitBefore {
  bool approval = false;               // An operator must approve the step.
  std::chrono::milliseconds delay{0};  // Time after the previous step.
  std::string window = {};             // The maintenance window in which the step may start.

  friend bool operator==(const WaitBefore&, const WaitBefore&) = default;
};

struct PlannedStep {
  Step step = Step::kTaint;
  WaitBefore before;
  std::chrono::milliseconds timeout{0};
  std::chrono::milliseconds soak{0};      // For verify.
  DrainSettings drain;                    // For drain, which has its own deadline.
  JobSettings job = {};                   // For the steps that run a Job on the node.
  VolumeWait volumes = {};                // For terminate.
  std::vector<std::string> sinks = {};    // For notify: names of sinks; empty: all.
  std::vector<std::string> program = {};  // For restart-job; empty: no program.
  // The mildest severity that follows if a step failed because of the node; kNone: the next worse
  // severity.
  Severity on_failure = Severity::kNone;
  // The pool with the plan that contains the step; empty: the plan for all nodes.
  std::string pool = {};
};

// Returns the step with its defaults, which docs/configuration.md lists.
[[nodiscard]] PlannedStep planned(Step step);

// Returns the verify after terminate, which waits for a replacement; null if the plan has none.
[[nodiscard]] const PlannedStep* replacement_wait(const std::vector<PlannedStep>& plan);

// Reads the list under `key`, which continues after the steps `before`. `drain`: the defaults for
// drains. Steps must be in the order of Step, each at most once; notify may be anywhere after the
// first step. Steps that cannot work together are reported to the file.
[[nodiscard]] std::vector<PlannedStep> read_plan(const YamlMap& severities, std::string_view key,
                                                 const DrainSettings& drain, std::string_view about,
                                                 const std::vector<PlannedStep>& before = {});

// Declares the possible items of a list of steps, for YamlFile::describing().
void describe_steps(const YamlMap& steps);

// The plans for a policy without its own plans.
enum class Preset : std::uint8_t { kStandard, kHealthSuite };
[[nodiscard]] constexpr std::string_view to_string(Preset preset) {
  return preset == Preset::kStandard ? "standard" : "health-suite";
}

// The means on which the default plans depend.
struct Means {
  bool reboot = false;     // A program or a cloud can restart machines.
  bool gpu_reset = false;  // There is an image or a template for the Job.
  Preset preset = Preset::kStandard;
};

// isolate: taint, cordon, drain, terminate (after an approval). reboot: taint, cordon, drain,
// reboot, verify, return-to-service. reset: taint, cordon, drain of the pods that use GPUs,
// gpu-reset, verify, return-to-service. Without the means only taint and cordon.
//
// The preset of the health suite, as its document describes it: a broken machine is replaced; after
// a restart and after a reset the long diagnostics decide. If they pass, that also clears findings
// that otherwise only an operator would; if they fail, the steps of isolate follow. The preset
// plans all of that regardless of the means: a policy without them is rejected. Pure.
[[nodiscard]] std::map<Severity, std::vector<PlannedStep>> default_plans(
    const Means& means = {}, const DrainSettings& drain = {});

}  // namespace gpuward::remediator
