// The Job that a sweep runs on a node, and the verdict from its end. Pure; the Job is JSON text.
// Used by Sweep.
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
  // For its pod; empty: the default runtime of the node and no secret.
  std::string runtime_class = {};              // SWEEP_RUNTIME_CLASS
  std::vector<std::string> pull_secrets = {};  // SWEEP_PULL_SECRETS
  // A ConfigMap with the suite's own keys, mounted into the built-in Job as --config.directory;
  // empty: none.
  std::string config_map = {};                               // SWEEP_CONFIG_MAP
  std::string job_template = {};                             // JSON; empty: the built-in one
  std::chrono::seconds timeout = std::chrono::seconds(900);  // JOB_TIMEOUT
};

// Returns `gpu-sweep-<node>-<8 hex>`: at most 63 characters, different for each sweep.
[[nodiscard]] std::string sweep_job_name(std::string_view node, std::string_view owner);

// Returns a Job with check 1 on that node. In a user's template TARGET_NODE_NAME is replaced by the
// node; the sweep always sets name, label (of `names`), deadline and number of tries. kInvalid for
// a template that is not a Job.
[[nodiscard]] Result<std::string> sweep_job(const SweepJobOptions& options, std::string_view node,
                                            std::string_view owner, const NodeNames& names);

// kUnknown: inconclusive, and the node is released as it was.
struct SweepResult {
  NodeStatus status = NodeStatus::kUnknown;
  Severity severity = Severity::kNone;
  std::string why = {};
  bool is_skip = false;  // the check itself reports that it does not apply: MIG, no dcgmi
};

// Pass and failure both need the check's own result in its termination message. A Job that was
// killed, timed out, never started or was skipped proves nothing about the GPUs, with any exit
// code.
[[nodiscard]] SweepResult judge_sweep_job(const kube::Job& job, const std::vector<kube::Pod>& pods);

}  // namespace gpuward::exporter
