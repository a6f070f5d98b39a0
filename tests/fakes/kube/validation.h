// The API's checks of the built-in kinds that gpuward writes: names, labels, taints, events,
// leases. Faults of type (a string instead of a boolean) are 400, faults of value 422, as in the
// real server.
#pragma once

#include <string>
#include <vector>

#include "core/runtime/json.h"
#include "tests/fakes/kube/failure.h"
#include "tests/fakes/kube/resource.h"

namespace gpuward::fakes {

// 400 for a body that cannot be decoded into the kind's Go type.
[[nodiscard]] Check check_types(const Resource& resource, const Json& object);
// Faults of metadata and of the kind's own fields.
[[nodiscard]] std::vector<Cause> faults_of(const Resource& resource, const Json& object);
// Faults of a change from `before` to `object`: fields that may not change.
[[nodiscard]] std::vector<Cause> faults_of_update(const Resource& resource, const Json& before,
                                                  const Json& object);

}  // namespace gpuward::fakes
