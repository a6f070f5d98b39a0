// Kubernetes JSON to the few fields we keep. Used by core/kube, and for the objects that an
// informer returns. Any thread. Tolerant about what is absent or of another type (a field we do
// not need must not cost us the object), strict about the name.
#pragma once

#include <string_view>

#include "core/kube/objects.h"
#include "core/model/result.h"

namespace gpuward::kube {

// kInternal where the object has no metadata.name: such an answer is of a broken peer.
[[nodiscard]] Result<ObjectMeta> decode_meta(const Json& object);
[[nodiscard]] Result<Node> decode_node(const Json& object);
[[nodiscard]] Result<Node> parse_node(std::string_view json);
[[nodiscard]] Result<Pod> decode_pod(const Json& object);
[[nodiscard]] Result<Job> decode_job(const Json& object);
[[nodiscard]] Result<ConfigMap> decode_config_map(const Json& object);
[[nodiscard]] Result<Lease> decode_lease(const Json& object);
[[nodiscard]] Result<CustomObject> decode_custom(Json object);

}  // namespace gpuward::kube
