// What has become of a step's Job, as its conditions and its pod tell. Pure; used by the actions
// that are Jobs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/kube/objects.h"

namespace gpuward::remediator {

struct JobOutcome {
  bool is_over = false;
  bool has_run = false;          // its container has been started at least
  std::optional<int> exit_code;  // of its container; absent where that did not end by itself
  std::string reason;            // of that end: "Error", "OOMKilled", "StartError", ...
  std::string words;             // the container's last, valid UTF-8
  std::string details;           // of the last line of the words that is a check's; may be empty
  std::string message;           // all of it, for people; of the words at most 1 KiB
  std::string boot_id;           // of the node, when this was seen to be over; empty: not known
};

// `pods` may hold others' pods: only the Job's own count.
[[nodiscard]] JobOutcome outcome_of(const kube::Job& job, const std::vector<kube::Pod>& pods);

// Whether the container's command could not even be started: then nothing was done.
[[nodiscard]] bool could_not_start(const JobOutcome& outcome);

// Of a Job of gpuward-exporter: a check says that the node has failed it. Any other end but with
// exit code 0 says nothing of the node.
[[nodiscard]] bool has_failed_check(const JobOutcome& outcome);

}  // namespace gpuward::remediator
