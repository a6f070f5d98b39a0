// Objects of the API server as JSON, such as an informer hands out, or as its text, to what we keep
// of them. Used by the remediator. Any thread.
#pragma once

#include <string_view>

#include "core/kube/objects.h"
#include "core/model/result.h"

namespace gpuward::kube {

// kInternal where the object has no metadata.name.
[[nodiscard]] Result<ObjectMeta> read_meta(const Json& object);
[[nodiscard]] Result<Node> read_node(const Json& object);

[[nodiscard]] Result<Node> parse_node(std::string_view json);

}  // namespace gpuward::kube
