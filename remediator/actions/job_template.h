// The Job of a step: its name, which follows from the Remediation, and its JSON, made from a
// template (manifests/remediator-job-*.json, compiled in, or a file that the policy names). Used by
// the actions that are Jobs, and by who loads a policy.
//
// In a template's strings $(NODE_NAME), $(BOOT_ID), $(GPU_VENDOR) (nvidia or amd), $(TIMEOUT) (of
// the step, "600s"), $(PAUSE_UNITS) (with commas between them), $(REMEDIATION), $(IMAGE),
// $(SERVICE_ACCOUNT), $(EVIDENCE_SERVICE_ACCOUNT), $(UPLOAD) (where evidence goes, or nothing),
// $(CLEARS_LATCHED) (true or false) and $(MIN_BUS_BANDWIDTH) (GB/s) are put in; of nccl-pairs also
// $(RANK), $(ADDRESS), $(PORT) and $(TOKEN).
// Whatever it says: the Job has one pod, which runs once, on that node, and tolerates all taints.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "core/kube/objects.h"
#include "core/model/result.h"
#include "remediator/actions/step_action.h"
#include "remediator/policy/job_settings.h"

namespace gpuward::remediator {

// The label of a Job with the boot of its node that it was ordered in.
inline constexpr std::string_view kBootLabel = "gpuward.dev/boot-id";

// One of several Jobs of a step; a step that has but one has no part.
struct JobPart {
  std::string id = {};  // a label's value: sets it apart from the step's other Jobs on the node
  std::vector<std::pair<std::string, std::string>> values = {};  // "$(RANK)" -> "0"
  std::chrono::milliseconds timeout{0};                          // of this Job; 0: the step's
};

// Reads the files that the policy names into `jobs.templates`. kInvalid, or read_file()'s error,
// for one that is no batch/v1 Job with one container, of gpu-reset runs another
// vendor's tools, or of collect-evidence does not say where evidence goes.
[[nodiscard]] Status load_job_templates(JobsPolicy& jobs);

// The same for the same Remediation, node, step, part and severity at which it was intended:
// whoever goes on after a crash finds the Job again. At most 63 characters.
[[nodiscard]] std::string job_name(const StepRequest& request, const JobPart& part = {});

// JSON for `ns`. Pure. kInvalid for a template that is wrong.
[[nodiscard]] Result<std::string> render_job(const StepRequest& request, const JobsPolicy& jobs,
                                             const std::string& ns, const JobPart& part = {});

// Whether the Job was made for this very step and part, and is not somebody else's of that name.
[[nodiscard]] bool is_job_of(const kube::Job& job, const StepRequest& request,
                             const JobPart& part = {});

}  // namespace gpuward::remediator
