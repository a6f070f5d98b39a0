// Whether the policy's step gpu-reset can work on the GPUs of a vendor. Pure; used when the policy
// is read, for pools whose labels name a vendor, and by the step for its node.
#pragma once

#include <optional>
#include <string>

#include "core/model/gpu.h"
#include "remediator/policy/job_settings.h"

namespace gpuward::remediator {

// Whether such nodes have a template: a file, or the built-in one with an image.
[[nodiscard]] bool can_reset(const JobsPolicy& jobs, Vendor vendor);

// Says why it cannot work, for example that the step runs nvidia-smi; nullopt if it can.
[[nodiscard]] std::optional<std::string> objection_to_reset(const JobSettings& step,
                                                            const JobsPolicy& jobs, Vendor vendor);

}  // namespace gpuward::remediator
