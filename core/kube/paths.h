// The paths of objects below the API server's root. Every name in a path is checked by
// validate_segment and percent-encoded here. Inside core/kube only.
#pragma once

#include <string>
#include <string_view>

#include "core/kube/objects.h"
#include "core/model/result.h"

namespace gpuward::kube {

// Appends one segment; returns the error of `path` if it is one.
[[nodiscard]] Result<std::string> below(const Result<std::string>& path, std::string_view name);

[[nodiscard]] Result<std::string> node_path(std::string_view name);
[[nodiscard]] Result<std::string> pod_path(std::string_view ns, std::string_view name);
[[nodiscard]] Result<std::string> pod_collection(std::string_view ns);
[[nodiscard]] Result<std::string> job_collection(std::string_view ns);
[[nodiscard]] Result<std::string> job_path(std::string_view ns, std::string_view name);
[[nodiscard]] Result<std::string> config_map_collection(std::string_view ns);
[[nodiscard]] Result<std::string> config_map_path(std::string_view ns, std::string_view name);
[[nodiscard]] Result<std::string> lease_collection(std::string_view ns);
[[nodiscard]] Result<std::string> lease_path(std::string_view ns, std::string_view name);
[[nodiscard]] Result<std::string> custom_collection(const ResourceType& type);
[[nodiscard]] Result<std::string> custom_path(const ResourceType& type, std::string_view name);

}  // namespace gpuward::kube
