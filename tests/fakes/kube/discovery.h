// The first requests of a client: versions, groups, kinds, and the part of OpenAPI that `kubectl
// apply` reads.
#pragma once

#include <optional>
#include <string_view>

#include "core/runtime/json.h"
#include "tests/fakes/kube/resource.h"

namespace gpuward::fakes {

// nullopt if the path does not belong to discovery.
[[nodiscard]] std::optional<Json> discover(const Registry& registry, std::string_view path);

}  // namespace gpuward::fakes
