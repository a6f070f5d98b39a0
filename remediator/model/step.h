// The steps a Remediation can take, how far a step has come, and how far the operator lets gpuward
// go. Used by the policy file, the Remediation resource and the actions.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace gpuward::remediator {

// In the order in which they run.
enum class Step : std::uint8_t {
  kTaint,
  kCordon,
  kCollectEvidence,  // a Job on the node; not disruptive
  kOutOfService,     // of a silent node whose machine is off: Kubernetes moves its pods
  kDrain,
  kRestartJob,  // the jobs that have lost pods by the drain start over as a whole
  kGpuReset,    // a Job on the node
  kReboot,
  kQuarantineJob,  // the long diagnostics, a Job on the node
  kNcclTest,       // all_reduce over the GPUs of the node, a Job on it
  kNcclPairs,      // the same over the GPUs of two nodes that failed together, a Job on each
  kTerminate,      // ends the machine; its node disappears with it
  kVerify,
  kReturn,
  kNotify  // notifies people; anywhere in the plan
};

// The recorded state of a step. kIntended is written before the step acts. If it is found later,
// the step may or may not have run; a step that must not run twice then counts as done. kRunning:
// the step has started and gpuward waits for it.
enum class StepResult : std::uint8_t { kIntended, kRunning, kDone, kFailed };

// How far gpuward may go, regardless of the policy's steps. kObserve decides and records only.
enum class Mode : std::uint8_t { kObserve, kTaint, kCordon, kFull };

[[nodiscard]] std::string_view to_string(Step step);  // "taint", ..., "return-to-service"
[[nodiscard]] std::optional<Step> parse_step(std::string_view text);
[[nodiscard]] std::string_view to_string(StepResult result);  // "intended", "running", ...
[[nodiscard]] std::optional<StepResult> parse_step_result(std::string_view text);
[[nodiscard]] std::string_view to_string(Mode mode);  // "observe", "taint", "cordon", "full"
[[nodiscard]] std::optional<Mode> parse_mode(std::string_view text);

// Whether `mode` allows `step`.
[[nodiscard]] bool allows(Mode mode, Step step);

// taint and cordon: added to the node together, in one patch, and removed together.
[[nodiscard]] constexpr bool is_taint_or_cordon(Step step) { return step <= Step::kCordon; }
// Whether the step takes pods, GPUs or the machine away: evidence is then read again right before
// it.
[[nodiscard]] constexpr bool is_disruptive(Step step) {
  return step == Step::kOutOfService || step == Step::kDrain || step == Step::kGpuReset ||
         step == Step::kReboot || step == Step::kTerminate;
}
// Whether the step is requested from another system and continues there, whatever gpuward decides.
[[nodiscard]] constexpr bool is_of_the_machine(Step step) {
  return step == Step::kReboot || step == Step::kTerminate;
}
// Whether the step tests the node and proves it healthy by passing.
[[nodiscard]] constexpr bool is_diagnostic(Step step) {
  return step == Step::kQuarantineJob || step == Step::kNcclTest || step == Step::kNcclPairs;
}
// Whether the next step follows although this one has failed: missing evidence, a job that does not
// restart, or pods that do not move are no reason to leave an unhealthy node as it is.
[[nodiscard]] constexpr bool may_fail(Step step) {
  return step == Step::kCollectEvidence || step == Step::kOutOfService ||
         step == Step::kRestartJob || step == Step::kNotify;
}
// Whether the step is a Job pinned to the node, or several.
[[nodiscard]] constexpr bool is_job(Step step) {
  return step == Step::kCollectEvidence || step == Step::kGpuReset || is_diagnostic(step);
}

}  // namespace gpuward::remediator
