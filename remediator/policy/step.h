// The steps a Remediation can take, how far a step has come, and how far the operator lets gpuward
// go. Used by the policy file, the Remediation resource and the actions.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace gpuward::remediator {

// In the order in which they are taken. kReturn is not in a policy's list: it has its own section.
enum class Step : std::uint8_t { kTaint, kCordon, kReturn };

// What is recorded of a step: kIntended before it is taken, then how it ended.
enum class StepResult : std::uint8_t { kIntended, kDone, kFailed };

// How far gpuward may go, whatever the policy's steps say. kObserve decides and records only.
enum class Mode : std::uint8_t { kObserve, kTaint, kCordon, kFull };

[[nodiscard]] std::string_view to_string(Step step);  // "taint", "cordon", "return-to-service"
[[nodiscard]] std::optional<Step> parse_step(std::string_view text);
[[nodiscard]] std::string_view to_string(StepResult result);  // "intended", "done", "failed"
[[nodiscard]] std::optional<StepResult> parse_step_result(std::string_view text);
[[nodiscard]] std::string_view to_string(Mode mode);  // "observe", "taint", "cordon", "full"
[[nodiscard]] std::optional<Mode> parse_mode(std::string_view text);

// Whether `mode` lets `step` be taken.
[[nodiscard]] bool allows(Mode mode, Step step);

}  // namespace gpuward::remediator
