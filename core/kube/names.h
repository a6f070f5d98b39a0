// Checks names of Kubernetes objects before they reach a URL: untrusted names (an alert's `node`
// label) are validated, and all parts of a path or a query are percent-encoded. Used by core/kube
// and the webhook.
#pragma once

#include <string>
#include <string_view>

#include "core/kube/objects.h"
#include "core/model/result.h"

namespace gpuward::kube {

// Checks for an RFC 1123 subdomain: dot-separated labels of [a-z0-9-], each 1 to 63 long and
// starting and ending with a letter or digit; at most 253 in all. kInvalid explains the fault and
// quotes at most 64 bytes of the name.
[[nodiscard]] Status validate_node_name(std::string_view name);

// Checks one segment of a path: not empty, neither "." nor "..", without '/' and '%', at most 253
// bytes. An empty name would reach the collection instead of the object, and dots another object.
[[nodiscard]] Status validate_segment(std::string_view name);

// Encodes all but unreserved characters (RFC 3986) as %XX.
[[nodiscard]] std::string percent_encode(std::string_view text);

// `2026-11-21T08:04:56.123456Z`, always six digits.
[[nodiscard]] std::string to_micro_time(WallTime time);

}  // namespace gpuward::kube
