// What a client asks before it asks anything else: versions, groups, kinds, and as much of OpenAPI
// as `kubectl apply` looks at.
#pragma once

#include <optional>
#include <string_view>

#include "core/runtime/json.h"
#include "tests/fakes/kube/resource.h"

namespace gpuward::fakes {

// nullopt where the path is none of discovery's.
[[nodiscard]] std::optional<Json> discover(const Registry& registry, std::string_view path);

}  // namespace gpuward::fakes
