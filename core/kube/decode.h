// Decodes Kubernetes JSON into the few fields that gpuward keeps. Used by core/kube, and for the
// objects that an informer returns. Thread-safe. A field that is absent or of another type is
// ignored, so that an unneeded field cannot cost the object; a missing name is an error.
#pragma once

#include <string_view>

#include "core/kube/objects.h"
#include "core/model/result.h"

namespace gpuward::kube {

// kInternal if the object has no metadata.name: such a response comes from a broken peer.
[[nodiscard]] Result<ObjectMeta> decode_meta(const Json& object);
[[nodiscard]] Result<Node> decode_node(const Json& object);
[[nodiscard]] Result<Node> parse_node(std::string_view json);
[[nodiscard]] Result<Pod> decode_pod(const Json& object);
[[nodiscard]] Result<Job> decode_job(const Json& object);
[[nodiscard]] Result<ConfigMap> decode_config_map(const Json& object);
[[nodiscard]] Result<Lease> decode_lease(const Json& object);
[[nodiscard]] Result<CustomObject> decode_custom(Json object);

}  // namespace gpuward::kube
