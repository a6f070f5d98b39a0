// Builders of the objects that tests put into the fake; a real API server accepts the same bodies.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "core/runtime/json.h"

namespace gpuward::fakes {

// A Ready node with its own boot id ("boot-NAME") and a provider id.
[[nodiscard]] Json ready_node(const std::string& name);
// The value of an object's label or annotation; empty if it has none.
[[nodiscard]] std::string label_of(const Json& object, std::string_view key);
[[nodiscard]] std::string annotation_of(const Json& object, std::string_view key);
[[nodiscard]] bool has_taint(const Json& node, std::string_view key);

// A pod with one container; not scheduled if `node` is empty. Its phase is Pending, as for every
// new pod, until running_status() is patched in.
[[nodiscard]] Json pod(const std::string& name, const std::string& node,
                       const std::map<std::string, std::string>& labels = {});
// For patch_status(): a kubelet's status of a healthy running pod.
[[nodiscard]] Json running_status();

// The metadata.ownerReferences of a Job's pod.
[[nodiscard]] Json owned_by_job(const Json& job);
// For patch_status(): its one container, of that name, has ended.
[[nodiscard]] Json ended_pod_status(const std::string& container, int exit_code,
                                    const std::string& words, const std::string& reason = "Error");
// For patch_status() of a Job: "Complete" or "Failed", and why.
[[nodiscard]] Json ended_job_status(const std::string& condition, const std::string& reason = {});

// A PodDisruptionBudget for those labels.
[[nodiscard]] Json budget(const std::string& name,
                          const std::map<std::string, std::string>& labels);
// For patch_status(): the status that the disruption controller would write.
[[nodiscard]] Json budget_status(int disruptions_allowed, int healthy = 1, int desired = 1);

}  // namespace gpuward::fakes
