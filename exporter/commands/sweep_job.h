// The Job that a sweep runs on a node, and what its end says about the node. Pure; JSON texts go in
// and out. Used by Sweep.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "core/kube/node_names.h"
#include "core/kube/objects.h"
#include "core/model/result.h"
#include "core/model/severity.h"
#include "exporter/publish/node/node_wish.h"

namespace gpuward::exporter {

struct SweepJobOptions {
  std::string ns = "gpu-healthcheck";  // SWEEP_NAMESPACE
  std::string image = {};              // SWEEP_IMAGE
  // For its pod; empty: the default runtime of the node, and no secret.
  std::string runtime_class = {};              // SWEEP_RUNTIME_CLASS
  std::vector<std::string> pull_secrets = {};  // SWEEP_PULL_SECRETS
  // With the suite's own keys, mounted into the built-in Job as --config.directory; empty: none.
  std::string config_map = {};                               // SWEEP_CONFIG_MAP
  std::string job_template = {};                             // JSON; empty: the built-in one
  std::chrono::seconds timeout = std::chrono::seconds(900);  // JOB_TIMEOUT
};

// `gpu-sweep-<node>-<8 hex>`: at most 63 characters, another for each sweep.
[[nodiscard]] std::string sweep_job_name(std::string_view node, std::string_view owner);

// Check 1 on that node. In a template of the user's TARGET_NODE_NAME stands for the node; name,
// label (of `names`), deadline and number of tries are the sweep's in any case. kInvalid for a
// template that is no Job.
[[nodiscard]] Result<std::string> sweep_job(const SweepJobOptions& options, std::string_view node,
                                            std::string_view owner, const NodeNames& names);

// kUnknown: it could not tell, and the node is given back as it was.
struct SweepResult {
  NodeStatus status = NodeStatus::kUnknown;
  Severity severity = Severity::kNone;
  std::string why = {};
  bool is_skip = false;  // the check itself says that it does not apply: MIG, no dcgmi
};

// Pass and failure both need the check's own word, in its termination message: a Job that was
// killed, ran out of time, never started or was skipped says nothing about the GPUs, whatever code
// it ended with.
[[nodiscard]] SweepResult judge_sweep_job(const kube::Job& job, const std::vector<kube::Pod>& pods);

}  // namespace gpuward::exporter
