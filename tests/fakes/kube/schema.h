// Structural schemas of CustomResourceDefinitions, as far as gpuward's own and its neighbours' go:
// types, required, enum, pattern, bounds, nullable, defaults, pruning of unknown fields. CEL rules
// are not run.
#pragma once

#include <string>
#include <vector>

#include "core/runtime/json.h"
#include "tests/fakes/kube/failure.h"

namespace gpuward::fakes {

// Removes what the schema does not know (x-kubernetes-preserve-unknown-fields is respected).
void prune(Json& value, const Json& schema);
void fill_defaults(Json& value, const Json& schema);
// Every fault, with the field's path ("spec.severity"); empty where the value is good.
[[nodiscard]] std::vector<Cause> validate(const Json& value, const Json& schema,
                                          const std::string& path);

}  // namespace gpuward::fakes
