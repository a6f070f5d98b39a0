// Objects as Go writes them: some fields are always there, others disappear when empty. It gives
// the fake's clients the nulls and the absent lists that the real API sends.
#pragma once

#include "core/runtime/json.h"
#include "tests/fakes/kube/resource.h"

namespace gpuward::fakes {

void write_normally(const Resource& resource, Json& object);

// A new node that does not say that it is Ready gets the taint of admission
// (plugin/pkg/admission/nodetaint). For a Ready one the fake assumes that the controller has
// removed it already.
void taint_unready_node(Json& node);

}  // namespace gpuward::fakes
