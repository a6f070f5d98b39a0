// The three patch formats of the API: RFC 7386 merge-patch, RFC 6902 JSON Patch, and
// strategic-merge with the list keys of the built-in kinds. Pure.
#pragma once

#include <string_view>

#include "core/runtime/json.h"
#include "tests/fakes/kube/failure.h"

namespace gpuward::fakes {

inline constexpr std::string_view kJsonPatch = "application/json-patch+json";
inline constexpr std::string_view kMergePatch = "application/merge-patch+json";
inline constexpr std::string_view kStrategicPatch = "application/strategic-merge-patch+json";

// `content_type` is one of the three above. 400 if it is not a patch, 422 for a JSON Patch that
// does not apply (a failed `test`, a missing path).
[[nodiscard]] Outcome<Json> apply_patch(std::string_view content_type, const Json& target,
                                        const Json& patch);

// Merges lists by the key that types.go names for them, and replaces the others: spec.taints is
// replaced as a whole.
[[nodiscard]] Json apply_strategic_patch(Json target, const Json& patch);

}  // namespace gpuward::fakes
