// Structural schemas of CustomResourceDefinitions, as far as those of gpuward and its neighbours
// use them: types, required, enum, pattern, bounds, nullable, defaults, pruning of unknown fields.
// CEL rules do not run.
#pragma once

#include <string>
#include <vector>

#include "core/runtime/json.h"
#include "tests/fakes/kube/failure.h"

namespace gpuward::fakes {

// Removes fields that the schema does not declare (respects x-kubernetes-preserve-unknown-fields).
void prune(Json& value, const Json& schema);
void fill_defaults(Json& value, const Json& schema);
// Every fault, with the field's path ("spec.severity"); empty if the value is valid.
[[nodiscard]] std::vector<Cause> validate(const Json& value, const Json& schema,
                                          const std::string& path);

}  // namespace gpuward::fakes
