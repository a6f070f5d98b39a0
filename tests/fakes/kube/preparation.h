// Changes to a body before it is checked: it gets the kind and namespace of its URL, and a new
// object gets the fields that only the server writes.
#pragma once

#include <string>

#include "core/runtime/json.h"
#include "tests/fakes/kube/failure.h"
#include "tests/fakes/kube/target.h"
#include "tests/fakes/kube/world.h"

namespace gpuward::fakes {

// The kind in the body must be that of the URL; a body of a built-in kind may omit it.
[[nodiscard]] Check adopt_type(const Resource& resource, Json& object);
[[nodiscard]] Check adopt_namespace(const Target& target, Json& object);
// 404 for a namespace that does not exist, 403 for one that is being deleted.
[[nodiscard]] Check require_namespace(const World& world, const Target& target,
                                      const std::string& name);
// Name, uid, stamps, generation, defaults; the status of a new object.
void prepare_for_create(World& world, const Resource& resource, Json& object);

}  // namespace gpuward::fakes
