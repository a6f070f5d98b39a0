// Deleting objects and evicting pods: grace periods, preconditions, finalizers, disruption budgets.
#pragma once

#include "core/runtime/json.h"
#include "tests/fakes/kube/failure.h"
#include "tests/fakes/kube/target.h"
#include "tests/fakes/kube/world.h"
#include "tests/fakes/kube/writing.h"

namespace gpuward::fakes {

[[nodiscard]] inline const Json& metadata_of(const Json& object) {
  return member_at(object, "metadata");
}

// `options` is a DeleteOptions, null if the request had no body. The answer is the object, or a
// Status for the kinds for which the real server answers so.
[[nodiscard]] Outcome<Json> delete_object(World& world, const Target& target, const Json& options,
                                          Persist persist);

// POST .../pods/NAME/eviction; the answer is a Status.
[[nodiscard]] Outcome<Json> evict_pod(World& world, const Target& target, const Json& eviction,
                                      Persist persist);

// Call it with world.writing held, after the preconditions of a DELETE. Returns the object as it is
// then.
[[nodiscard]] Object end_object(World& world, const Target& target, const Object& before,
                                const Json& options, Persist persist);
[[nodiscard]] Check check_delete_preconditions(const Target& target, const Json& before,
                                               const Json& options);

}  // namespace gpuward::fakes
