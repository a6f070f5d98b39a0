// What the API refuses about the built-in kinds that gpuward writes: names, labels, taints, events,
// leases. Faults of type (a string where a boolean belongs) are 400, faults of value 422, as in the
// real one.
#pragma once

#include <string>
#include <vector>

#include "core/runtime/json.h"
#include "tests/fakes/kube/failure.h"
#include "tests/fakes/kube/resource.h"

namespace gpuward::fakes {

// 400 for a body that the kind's Go type could not be decoded from.
[[nodiscard]] Check check_types(const Resource& resource, const Json& object);
// Faults of metadata and of the kind's own fields.
[[nodiscard]] std::vector<Cause> faults_of(const Resource& resource, const Json& object);
// Faults of a change from `before` to `object`: fields that may not change.
[[nodiscard]] std::vector<Cause> faults_of_update(const Resource& resource, const Json& before,
                                                  const Json& object);

}  // namespace gpuward::fakes
