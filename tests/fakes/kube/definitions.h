// CustomResourceDefinitions: the kinds that one adds to the Registry.
#pragma once

#include <vector>

#include "core/runtime/json.h"
#include "tests/fakes/kube/failure.h"
#include "tests/fakes/kube/resource.h"

namespace gpuward::fakes {

// Faults of the definition itself: names, versions, a missing schema.
[[nodiscard]] std::vector<Cause> faults_of_definition(const Json& definition);

// The kinds of its served versions.
[[nodiscard]] std::vector<Resource> resources_of(const Json& definition);

// Sets the fields that the real server sets at once or moments later: names, conversion,
// Established.
void establish(Json& definition, const std::string& now);

}  // namespace gpuward::fakes
