#include "remediator/model/step.h"

#include <array>
#include <cstddef>

#include "core/runtime/text.h"

namespace gpuward::remediator {
namespace {

constexpr std::array<std::string_view, 15> kSteps = {
    "taint",       "cordon",    "collect-evidence", "out-of-service",    "drain",
    "restart-job", "gpu-reset", "reboot",           "quarantine-job",    "nccl-test",
    "nccl-pairs",  "terminate", "verify",           "return-to-service", "notify"};
constexpr std::array<std::string_view, 4> kResults = {"intended", "running", "done", "failed"};
constexpr std::array<std::string_view, 4> kModes = {"observe", "taint", "cordon", "full"};

}  // namespace

std::string_view to_string(Step step) { return kSteps[static_cast<std::size_t>(step)]; }
std::optional<Step> parse_step(std::string_view text) { return enumerator_of<Step>(kSteps, text); }

std::string_view to_string(StepResult result) { return kResults[static_cast<std::size_t>(result)]; }
std::optional<StepResult> parse_step_result(std::string_view text) {
  return enumerator_of<StepResult>(kResults, text);
}

std::string_view to_string(Mode mode) { return kModes[static_cast<std::size_t>(mode)]; }
std::optional<Mode> parse_mode(std::string_view text) { return enumerator_of<Mode>(kModes, text); }

bool allows(Mode mode, Step step) {
  switch (step) {
    case Step::kTaint:
    case Step::kReturn:
    case Step::kNotify:
      return mode >= Mode::kTaint;
    case Step::kCordon:
      return mode >= Mode::kCordon;
    case Step::kCollectEvidence:
    case Step::kOutOfService:
    case Step::kDrain:
    case Step::kRestartJob:
    case Step::kGpuReset:
    case Step::kReboot:
    case Step::kQuarantineJob:
    case Step::kNcclTest:
    case Step::kNcclPairs:
    case Step::kTerminate:
    case Step::kVerify:
      return mode >= Mode::kFull;
  }
  return false;
}

}  // namespace gpuward::remediator
