// The outcome of a step's Job, by its conditions and its pod. Pure; used by the actions that are
// Jobs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/kube/objects.h"

namespace gpuward::remediator {

struct JobOutcome {
  bool is_over = false;
  bool has_run = false;          // its container has at least started
  bool may_have_run = false;     // or a kubelet has the pod, and has not reported its end
  std::optional<int> exit_code;  // of its container; absent if that did not end by itself
  std::string reason;            // of that end: "Error", "OOMKilled", "StartError", ...
  std::string words;             // the container's last, valid UTF-8
  std::string details;           // of the last line in `words` from a check; may be empty
  std::string message;           // all of it, for people; at most 1 KiB of `words`
  std::string boot_id;           // of the node, when the end was seen; empty: not known
};

// `pods` may contain other pods: only the Job's own count.
[[nodiscard]] JobOutcome outcome_of(const kube::Job& job, const std::vector<kube::Pod>& pods);

// Whether the container's command could not even start: it has then done nothing.
[[nodiscard]] bool could_not_start(const JobOutcome& outcome);

// For a Job of gpuward-exporter: whether a check reports that the node has failed it. Any other end
// except exit code 0 says nothing about the node.
[[nodiscard]] bool has_failed_check(const JobOutcome& outcome);

}  // namespace gpuward::remediator
