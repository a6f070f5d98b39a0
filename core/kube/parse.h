// JSON texts of the API server, such as an informer hands out or a CustomObject holds, to objects.
// Used by the remediator. Any thread.
#pragma once

#include <string_view>

#include "core/kube/objects.h"
#include "core/model/result.h"

namespace gpuward::kube {

[[nodiscard]] Result<Node> parse_node(std::string_view json);
[[nodiscard]] Result<CustomObject> parse_custom(std::string_view json);

}  // namespace gpuward::kube
