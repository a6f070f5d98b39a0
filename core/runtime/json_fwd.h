// The name of JSON without its definition, for the few seams that pass a parsed value on unread,
// from the code that received it to the code that knows its kind. To read it, include
// core/runtime/json.h.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace gpuward {

using Json = nlohmann::json;

}  // namespace gpuward
