// Builders of the objects that tests put into the fake; the same bodies are good for a real API
// server.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "core/runtime/json.h"

namespace gpuward::fakes {

// Ready, with a boot id of its own ("boot-NAME") and a provider id.
[[nodiscard]] Json ready_node(const std::string& name);
// What a node says of itself; empty where it has no such label or annotation.
[[nodiscard]] std::string label_of(const Json& object, std::string_view key);
[[nodiscard]] std::string annotation_of(const Json& object, std::string_view key);
[[nodiscard]] bool has_taint(const Json& node, std::string_view key);

// One container; `node` empty: not scheduled. Its phase is Pending until running_status() is
// patched in, as the API gives it to every new pod.
[[nodiscard]] Json pod(const std::string& name, const std::string& node,
                       const std::map<std::string, std::string>& labels = {});
// For patch_status(): what a kubelet reports of a pod that runs well.
[[nodiscard]] Json running_status();

// Of a Job's pod: its metadata.ownerReferences.
[[nodiscard]] Json owned_by_job(const Json& job);
// For patch_status(): its one container, of that name, has ended.
[[nodiscard]] Json ended_pod_status(const std::string& container, int exit_code,
                                    const std::string& words, const std::string& reason = "Error");
// For patch_status() of a Job: "Complete" or "Failed", and why.
[[nodiscard]] Json ended_job_status(const std::string& condition, const std::string& reason = {});

// A PodDisruptionBudget for those labels.
[[nodiscard]] Json budget(const std::string& name,
                          const std::map<std::string, std::string>& labels);
// For patch_status(): what the disruption controller would write.
[[nodiscard]] Json budget_status(int disruptions_allowed, int healthy = 1, int desired = 1);

}  // namespace gpuward::fakes
