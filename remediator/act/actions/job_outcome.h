// The outcome of a step's Job, read from its conditions and its pod. Pure; used by the actions that
// run Jobs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/kube/objects.h"

namespace gpuward::remediator {

struct JobOutcome {
  bool is_over = false;
  bool has_run = false;  // The container has at least started.
  // The container has run, or a kubelet has the pod and has not reported its end.
  bool may_have_run = false;
  // Exit code of the container; nullopt if the container did not end by itself.
  std::optional<int> exit_code;
  // Reason of the container's end: "Error", "OOMKilled", "StartError", ...
  std::string reason;
  std::string words;  // Last output of the container, as valid UTF-8.
  // Details in the last line of `words` that a check wrote; may be empty.
  std::string details;
  std::string message;  // The whole outcome for people, with at most 1 KiB of `words`.
  // Boot of the node when the remediator saw the end; empty if unknown.
  std::string boot_id;
};

// Returns the outcome of `job`. Pods of other Jobs in `pods` are ignored.
[[nodiscard]] JobOutcome outcome_of(const kube::Job& job, const std::vector<kube::Pod>& pods);

// Returns whether the kubelet could not start the container's command. The Job has then changed
// nothing.
[[nodiscard]] bool could_not_start(const JobOutcome& outcome);

// For a Job of gpuward-exporter: returns whether a check reports a fault of the node. Any other end
// except exit code 0 says nothing about the node.
[[nodiscard]] bool has_failed_check(const JobOutcome& outcome);

}  // namespace gpuward::remediator
