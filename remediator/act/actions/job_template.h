// The Job of a step: its name, which follows from the Remediation, and its JSON, made from a
// template (manifests/remediator-job-*.json, compiled in, or a file that the policy names). Used by
// the actions that are Jobs, and by the loader of the policy.
//
// In a template's strings these placeholders are replaced: $(NODE_NAME), $(BOOT_ID), $(GPU_VENDOR)
// (nvidia or amd), $(TIMEOUT) (of the step, "600s"), $(PAUSE_UNITS) (with commas between them),
// $(REMEDIATION), $(IMAGE), $(SERVICE_ACCOUNT), $(EVIDENCE_SERVICE_ACCOUNT), $(UPLOAD) (where
// evidence goes, or nothing), $(CLEARS_LATCHED) (true or false) and $(MIN_BUS_BANDWIDTH) (GB/s);
// for nccl-pairs also $(RANK), $(ADDRESS), $(PORT) and $(TOKEN). Regardless of the template, the
// Job has one pod, which runs once, on that node, and tolerates all taints.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "core/kube/objects.h"
#include "core/model/result.h"
#include "remediator/act/actions/step_action.h"
#include "remediator/policy/job_settings.h"

namespace gpuward::remediator {

// The label of a Job that holds the boot of its node when the Job was requested.
inline constexpr std::string_view kBootLabel = "gpuward.dev/boot-id";

// One of several Jobs of a step. A step with only one Job has no part.
struct JobPart {
  // Value of a label; distinguishes this Job from the step's other Jobs on the node.
  std::string id = {};
  std::vector<std::pair<std::string, std::string>> values = {};  // "$(RANK)" -> "0"
  // Limit of this Job; 0 means the limit of the step.
  std::chrono::milliseconds timeout{0};
};

// Reads the files that the policy names into `jobs.templates`. Returns read_file()'s error, or
// kInvalid for a file that is not a batch/v1 Job with one container, that runs another vendor's
// tools (for gpu-reset), that does not check the boot (for reboot), or that does not say where
// evidence goes (for collect-evidence).
[[nodiscard]] Status load_job_templates(JobsPolicy& jobs);

// Returns the Job's name, at most 63 characters. The name is the same for the same Remediation,
// node, step, part and severity of the intent, so that a new leader finds the Job after a crash.
[[nodiscard]] std::string job_name(const StepRequest& request, const JobPart& part = {});

// Returns the Job as JSON for namespace `ns`, or kInvalid for an invalid template. Pure.
[[nodiscard]] Result<std::string> render_job(const StepRequest& request, const JobsPolicy& jobs,
                                             const std::string& ns, const JobPart& part = {});

// Returns whether the Job was made for this step and part, and not by another writer under the same
// name.
[[nodiscard]] bool is_job_of(const kube::Job& job, const StepRequest& request,
                             const JobPart& part = {});

}  // namespace gpuward::remediator
