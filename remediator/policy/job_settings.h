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
  std::string upload;                       // as parse_upload_target() accepts it; empty: no upload
  std::string service_account = "default";  // of its pods; AWS gives its keys to this account
};

// `jobs:` of the policy.
struct JobsPolicy {
  std::string ns = "gpu-healthcheck";
  std::string image;  // contains gpuward-exporter and the vendor's tools
  std::string service_account = "gpu-healthcheck-quarantine";
  std::int64_t pair_port = 29400;
  EvidencePolicy evidence = {};
  // gpu-reset stops the programs of these Node labels and systemd units, and starts them again.
  std::vector<std::string> pause_labels = {}, pause_units = {};
  // Files that replace the built-in templates, by the template's name, and their content when the
  // policy was loaded.
  std::map<std::string, std::string, std::less<>> template_files, templates = {};
};

// The name of the template of a step's Job: the step's name; gpu-reset has one per vendor,
// "gpu-reset" and "gpu-reset-amd".
[[nodiscard]] inline std::string_view template_name(Step step, Vendor vendor = Vendor::kNvidia) {
  if (step == Step::kGpuReset && vendor == Vendor::kAmd) return "gpu-reset-amd";
  return to_string(step);
}

// Settings of one step of a plan: docs/configuration.md says which steps have which, and their
// purpose.
struct JobSettings {
  std::vector<std::string> command;              // empty: that of the template
  bool escalates_when_busy = false;              // else gpuward asks an operator
  std::vector<std::string> not_on = {"aws://"};  // a reset in place is known not to work on EC2
  bool clears_latched = false;
  double min_bus_bandwidth = 400;  // GB/s
  std::chrono::milliseconds together{std::chrono::minutes(10)};
};

}  // namespace gpuward::remediator
