// The order of resourceVersions of one collection. Used by the informer and by the remediator's
// view of the cluster.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/runtime/text.h"

namespace gpuward::kube {

// The API server counts the versions of a kind up, and Kubernetes 1.35 says so. What is no number,
// as only tests have it, is older than nothing.
[[nodiscard]] inline bool is_older(std::string_view version, std::string_view than) {
  const auto left = parse_integer<std::uint64_t>(version);
  const auto right = parse_integer<std::uint64_t>(than);
  return left && right && *left < *right;
}

}  // namespace gpuward::kube
