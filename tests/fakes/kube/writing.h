// Creates, replaces and patches objects, with the rules that all kinds share: names, uid,
// resourceVersion as a precondition, status as its own subresource, dry runs.
#pragma once

#include <string_view>

#include "core/runtime/json.h"
#include "tests/fakes/kube/failure.h"
#include "tests/fakes/kube/target.h"
#include "tests/fakes/kube/world.h"

namespace gpuward::fakes {

enum class Persist { kYes, kDryRun };

struct Written {
  Object object;
  int code = 200;  // 201 if it is new
};

// Each of them locks world.writing itself.
[[nodiscard]] Outcome<Written> create_object(World& world, const Target& target, Json body,
                                             Persist persist);
[[nodiscard]] Outcome<Written> replace_object(World& world, const Target& target, Json body,
                                              Persist persist);
[[nodiscard]] Outcome<Written> patch_object(World& world, const Target& target,
                                            std::string_view content_type, const Json& patch,
                                            Persist persist);

}  // namespace gpuward::fakes
