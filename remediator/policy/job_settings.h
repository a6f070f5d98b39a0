// The Jobs that gpuward runs on an unhealthy node: their common settings, and those of one step of
// a plan. Immutable values; read from YAML by read_jobs(), used by the actions.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/gpu.h"
#include "remediator/model/step.h"

namespace gpuward::remediator {

// `jobs.evidence:` of the policy, for the step collect-evidence.
struct EvidencePolicy {
  // In the form that parse_upload_target() accepts; empty: no upload.
  std::string upload;
  // Service account of the Job's pods; AWS gives its keys to this account.
  std::string service_account = "default";
};

// `jobs:` of the policy.
struct JobsPolicy {
  std::string ns = "gpu-healthcheck";
  std::string image;  // Image with gpuward-exporter and the vendor's tools.
  std::string service_account = "gpu-healthcheck-quarantine";
  std::int64_t pair_port = 29400;
  EvidencePolicy evidence = {};
  // Node labels and systemd units of programs that gpu-reset stops and starts again.
  std::vector<std::string> pause_labels = {}, pause_units = {};
  // Files that replace the built-in templates, by template name, and their content at the time when
  // the policy was loaded.
  std::map<std::string, std::string, std::less<>> template_files, templates = {};
};

// Returns the name of the template of a step's Job: the step's name. gpu-reset has one template per
// vendor, "gpu-reset" and "gpu-reset-amd".
[[nodiscard]] inline std::string_view template_name(Step step, Vendor vendor = Vendor::kNvidia) {
  if (step == Step::kGpuReset && vendor == Vendor::kAmd) return "gpu-reset-amd";
  return to_string(step);
}

// Settings of one step of a plan. docs/configuration.md lists the settings of each step and their
// purpose.
struct JobSettings {
  std::vector<std::string> command;  // Empty: the command of the template.
  // True: the next severity follows if a process holds a GPU. False: gpuward asks an operator.
  bool escalates_when_busy = false;
  // Prefixes of provider IDs on which a reset in place fails, such as EC2.
  std::vector<std::string> not_on = {"aws://"};
  bool clears_latched = false;
  double min_bus_bandwidth = 400;  // GB/s
  std::chrono::milliseconds together{std::chrono::minutes(10)};
};

}  // namespace gpuward::remediator
