// Reads what a policy says of the Jobs that run on a bad node. Used by read_policy() and
// read_plan(); docs/configuration.md has its keys.
#pragma once

#include "core/runtime/yaml.h"
#include "remediator/model/step.h"
#include "remediator/policy/job_settings.h"

namespace gpuward::remediator {

// The section `jobs`; what is absent keeps its default.
[[nodiscard]] JobsPolicy read_jobs(const YamlMap& section);

// The settings of `step`, which is a Job; what is absent stays as it is in `out`.
[[nodiscard]] JobSettings read_job_settings(const YamlMap& settings, Step step, JobSettings out);

}  // namespace gpuward::remediator
