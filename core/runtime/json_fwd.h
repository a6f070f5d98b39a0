// The name of JSON without its contents: for the few seams that pass a parsed value on unread, from
// whoever got it off the wire to whoever knows its kind. To look into it: core/runtime/json.h.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace gpuward {

using Json = nlohmann::json;

}  // namespace gpuward
