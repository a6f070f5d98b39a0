// The parts of an API URL: a kind, a namespace, an object, a subresource.
#pragma once

#include <string>
#include <string_view>

#include "tests/fakes/kube/resource.h"
#include "tests/fakes/kube/store.h"

namespace gpuward::fakes {

struct Target {
  ResourcePtr resource;
  std::string ns, name, subresource;
  bool legacy_watch = false;  // /api/v1/watch/nodes

  [[nodiscard]] ObjectId id() const { return {resource->collection(), ns, name}; }
};

// 404 for a path without a known kind.
[[nodiscard]] Outcome<Target> parse_target(const Registry& registry, std::string_view path);

}  // namespace gpuward::fakes
