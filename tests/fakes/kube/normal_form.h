// Objects as Go writes them: fields that are always there, fields that vanish when empty. Without
// it a client of the fake would not meet the nulls and the absent lists that the real API answers
// with.
#pragma once

#include "core/runtime/json.h"
#include "tests/fakes/kube/resource.h"

namespace gpuward::fakes {

void write_normally(const Resource& resource, Json& object);

// A new node that does not say it is Ready gets the taint that admission gives it
// (plugin/pkg/admission/nodetaint); a Ready one is taken for one that its controller has cleared
// already.
void taint_unready_node(Json& node);

}  // namespace gpuward::fakes
