// The Jobs that gpuward runs on an unhealthy node: what all have in common, and the settings of one
// step of a plan. Immutable values; read from YAML by read_jobs(), used by the actions.
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

// `jobs.evidence:` of the policy: of the step collect-evidence.
struct EvidencePolicy {
  std::string upload;                       // as parse_upload_target() takes it; empty: nowhere
  std::string service_account = "default";  // of its pods; whom AWS gives keys to
};

// `jobs:` of the policy.
struct JobsPolicy {
  std::string ns = "gpu-healthcheck";
  std::string image;  // has gpuward-exporter and the vendor's tools
  std::string service_account = "gpu-healthcheck-quarantine";
  std::int64_t pair_port = 29400;
  EvidencePolicy evidence = {};
  // gpu-reset stops what these labels of Nodes and these systemd units run, and starts it again.
  std::vector<std::string> pause_labels = {}, pause_units = {};
  // Files that replace the built-in templates, by the template's name, and what was in them when
  // the policy was loaded.
  std::map<std::string, std::string, std::less<>> template_files, templates = {};
};

// The template of a step's Job: the step's word; of gpu-reset one for each vendor, "gpu-reset" and
// "gpu-reset-amd".
[[nodiscard]] inline std::string_view template_name(Step step, Vendor vendor = Vendor::kNvidia) {
  if (step == Step::kGpuReset && vendor == Vendor::kAmd) return "gpu-reset-amd";
  return to_string(step);
}

// Of one step of a plan: docs/configuration.md says which steps have which, and what for.
struct JobSettings {
  std::vector<std::string> command;              // empty: the template's
  bool escalates_when_busy = false;              // else an operator is asked
  std::vector<std::string> not_on = {"aws://"};  // on EC2 a reset in place is known not to work
  bool clears_latched = false;
  double min_bus_bandwidth = 400;  // GB/s
  std::chrono::milliseconds together{std::chrono::minutes(10)};
};

}  // namespace gpuward::remediator
