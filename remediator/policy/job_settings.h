// The Jobs that gpuward runs on a bad node: what all have in common, and the settings of one step
// of a plan. Immutable values; read from YAML by policy/jobs_file, used by the actions.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "remediator/model/step.h"

namespace gpuward::remediator {

// `jobs:` of the policy.
struct JobsPolicy {
  std::string ns = "gpu-healthcheck";
  std::string image;  // of the built-in templates; has gpuward-exporter and the vendor's tools
  std::string service_account = "gpu-healthcheck-quarantine";  // of quarantine-job and nccl-test
  // Of nccl-pairs: where the first of two nodes waits for the second, on its own network.
  std::int64_t pair_port = 29400;
  // Files that stand in for the built-in templates, and what was in them when the policy was
  // loaded.
  std::map<Step, std::string> template_files, templates = {};
};

// Of one step of a plan.
struct JobSettings {
  std::vector<std::string> command;  // empty: the template's
  // Of gpu-reset: where processes hold a GPU, the next worse severity is taken and not a human
  // asked.
  bool escalates_when_busy = false;
  // Of gpu-reset: it is not tried on nodes whose providerID begins so; the next worse severity is
  // taken. On EC2 a reset in place is known not to work.
  std::vector<std::string> not_on = {"aws://"};
  // Of quarantine-job and nccl-test: a pass also clears what the exporter only lets an operator
  // clear, such as an Xid in the log.
  bool clears_latched = false;
  // Of nccl-test and nccl-pairs, in GB/s: less is no pass.
  double min_bus_bandwidth = 400;
  // Of nccl-pairs: nodes of which nobody knows the jobs have failed together where their
  // Remediations were opened within it.
  std::chrono::milliseconds together{std::chrono::minutes(10)};
};

}  // namespace gpuward::remediator
