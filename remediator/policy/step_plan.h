// One entry of a severity's list in the policy: a step, what must be true before it, and its own
// settings. Immutable values; read from YAML by read_plan().
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "core/model/severity.h"
#include "core/runtime/yaml.h"
#include "remediator/drain/drain_settings.h"
#include "remediator/model/step.h"
#include "remediator/policy/job_settings.h"

namespace gpuward::remediator {

// Volumes that are still attached to a node which is to be terminated: another node that gets them
// too early would find them in use, or write beside it.
struct VolumeWait {
  std::chrono::milliseconds deadline{std::chrono::minutes(10)};  // after the drain
  bool proceeds = false;                                         // then; else an operator is asked

  friend bool operator==(const VolumeWait&, const VolumeWait&) = default;
};

// What a step waits for. Written as `wait: {...}` before it in the list.
struct WaitBefore {
  bool approval = false;               // an operator has to say yes
  std::chrono::milliseconds delay{0};  // after the step before it
  std::string window = {};             // the maintenance window in which it may be begun

  friend bool operator==(const WaitBefore&, const WaitBefore&) = default;
};

struct PlannedStep {
  Step step = Step::kTaint;
  WaitBefore before;
  std::chrono::milliseconds timeout{0};
  std::chrono::milliseconds soak{0};      // of verify
  DrainSettings drain;                    // of drain, which has a deadline of its own
  JobSettings job = {};                   // of the steps that are a Job on the node
  VolumeWait volumes = {};                // of terminate
  std::vector<std::string> sinks = {};    // of notify, by name; empty: all
  std::vector<std::string> program = {};  // of restart-job; empty: without one
  // The mildest severity whose steps follow a failure that is the node's; none: the next worse one.
  Severity on_failure = Severity::kNone;
  // Whose plan it stands in: the name of a pool; empty: that of all nodes.
  std::string pool = {};
};

// The step with its defaults, which docs/configuration.md lists.
[[nodiscard]] PlannedStep planned(Step step);

// The verify after terminate: the wait for a replacement. Null where the plan has none.
[[nodiscard]] const PlannedStep* replacement_wait(const std::vector<PlannedStep>& plan);

// Reads the list under `key`, which goes on where the steps `before` have ended; drains as `drain`
// says where the step does not say otherwise. Steps stand in the order of Step, notify wherever it
// likes after the first, none twice; what cannot work together is reported to the file.
[[nodiscard]] std::vector<PlannedStep> read_plan(const YamlMap& severities, std::string_view key,
                                                 const DrainSettings& drain, std::string_view about,
                                                 const std::vector<PlannedStep>& before = {});

// Declares what an item of such a list may be, for YamlFile::describing().
void describe_steps(const YamlMap& steps);

// Whose plans stand where the policy has none of its own.
enum class Preset : std::uint8_t { kStandard, kHealthSuite };
[[nodiscard]] constexpr std::string_view to_string(Preset preset) {
  return preset == Preset::kStandard ? "standard" : "health-suite";
}

// What the default plans depend on.
struct Means {
  bool reboot = false;     // a program or a cloud that restarts machines
  bool gpu_reset = false;  // an image or a template for the Job
  Preset preset = Preset::kStandard;
};

// isolate: taint, cordon, drain, terminate (after an approval). reboot: taint, cordon, drain,
// reboot, verify, return-to-service. reset: taint, cordon, drain of the pods that use GPUs,
// gpu-reset, verify, return-to-service. Without the means only taint and cordon.
//
// The preset of the health suite, as its document says: a machine that is broken is replaced; after
// a restart and after a reset the long diagnostics decide. Their pass also clears what else only an
// operator would; after their failure follow the steps of isolate. It plans all of that whatever
// the means: a policy that lacks them is refused. Pure.
[[nodiscard]] std::map<Severity, std::vector<PlannedStep>> default_plans(
    const Means& means = {}, const DrainSettings& drain = {});

}  // namespace gpuward::remediator
