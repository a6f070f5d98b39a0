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
  kCollectEvidence,  // A Job on the node; not disruptive.
  kOutOfService,     // For a silent node with a machine that is off: Kubernetes moves its pods.
  kDrain,
  kRestartJob,  // The jobs that lost pods in the drain are restarted as a whole.
  kGpuReset,    // A Job on the node.
  kReboot,
  kQuarantineJob,  // The long diagnostics, as a Job on the node.
  kNcclTest,       // all_reduce over the GPUs of the node, as a Job.
  kNcclPairs,      // all_reduce over the GPUs of two nodes that failed together, as a Job on each.
  kTerminate,      // Ends the machine; its Node disappears with it.
  kVerify,
  kReturn,
  kNotify  // Notifies people; may be anywhere in the plan.
};

// The recorded state of a step. kIntended is written before the step acts. After a crash the step
// may or may not have run; a step that must not run twice then counts as done. kRunning: the step
// has started and gpuward waits for its end.
enum class StepResult : std::uint8_t { kIntended, kRunning, kDone, kFailed };

// How far gpuward may go, regardless of the policy's steps. kObserve decides and records only.
enum class Mode : std::uint8_t { kObserve, kTaint, kCordon, kFull };

[[nodiscard]] std::string_view to_string(Step step);  // "taint", ..., "return-to-service"
[[nodiscard]] std::optional<Step> parse_step(std::string_view text);
[[nodiscard]] std::string_view to_string(StepResult result);  // "intended", "running", ...
[[nodiscard]] std::optional<StepResult> parse_step_result(std::string_view text);
[[nodiscard]] std::string_view to_string(Mode mode);  // "observe", "taint", "cordon", "full"
[[nodiscard]] std::optional<Mode> parse_mode(std::string_view text);

// Returns whether `mode` allows `step`.
[[nodiscard]] bool allows(Mode mode, Step step);

// taint and cordon: added to the node together, in one patch, and removed together.
[[nodiscard]] constexpr bool is_taint_or_cordon(Step step) { return step <= Step::kCordon; }
// Returns whether the step disrupts pods, GPUs or the machine. gpuward then reads the evidence
// again right before the step.
[[nodiscard]] constexpr bool is_disruptive(Step step) {
  return step == Step::kOutOfService || step == Step::kDrain || step == Step::kGpuReset ||
         step == Step::kReboot || step == Step::kTerminate;
}
// Returns whether another system carries out the step and continues regardless of gpuward's
// decisions.
[[nodiscard]] constexpr bool is_of_the_machine(Step step) {
  return step == Step::kReboot || step == Step::kTerminate;
}
// Returns whether the step tests the node and proves it healthy by passing.
[[nodiscard]] constexpr bool is_diagnostic(Step step) {
  return step == Step::kQuarantineJob || step == Step::kNcclTest || step == Step::kNcclPairs;
}
// Returns whether the next step follows even if this step has failed. Missing evidence, a job that
// does not restart, or pods that do not move must not keep an unhealthy node in its state.
[[nodiscard]] constexpr bool may_fail(Step step) {
  return step == Step::kCollectEvidence || step == Step::kOutOfService ||
         step == Step::kRestartJob || step == Step::kNotify;
}
// Returns whether the step is a Job pinned to the node, or several.
[[nodiscard]] constexpr bool is_job(Step step) {
  return step == Step::kCollectEvidence || step == Step::kGpuReset || is_diagnostic(step);
}

}  // namespace gpuward::remediator
