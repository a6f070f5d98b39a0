// Whether the step gpu-reset can work on the GPUs of a vendor, as the policy has it. Pure; asked
// when the policy is read, for pools whose labels name a vendor, and by the step for the node at
// hand.
#pragma once

#include <optional>
#include <string>

#include "core/model/gpu.h"
#include "remediator/policy/job_settings.h"

namespace gpuward::remediator {

// Whether there is a template for such nodes: a file, or the built-in one with an image.
[[nodiscard]] bool can_reset(const JobsPolicy& jobs, Vendor vendor);

// Why it cannot work: "...the step runs nvidia-smi" in words; nullopt where nothing speaks against.
[[nodiscard]] std::optional<std::string> objection_to_reset(const JobSettings& step,
                                                            const JobsPolicy& jobs, Vendor vendor);

}  // namespace gpuward::remediator
