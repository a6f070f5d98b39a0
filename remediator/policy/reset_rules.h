// Decides whether the policy's step gpu-reset can work on the GPUs of a vendor. Used when the
// policy is read, for pools with labels that name a vendor, and by the step for its node. Pure.
#pragma once

#include <optional>
#include <string>

#include "core/model/gpu.h"
#include "remediator/policy/job_settings.h"

namespace gpuward::remediator {

// Returns whether nodes of this vendor have a template: a file, or the built-in template with an
// image.
[[nodiscard]] bool can_reset(const JobsPolicy& jobs, Vendor vendor);

// Returns why the step cannot work, for example that the step runs nvidia-smi; nullopt if it can.
[[nodiscard]] std::optional<std::string> objection_to_reset(const JobSettings& step,
                                                            const JobsPolicy& jobs, Vendor vendor);

}  // namespace gpuward::remediator
