// Finds the JSON document that a program has written among other things: log lines before it, a
// farewell behind it. Pure. Used by the parser of DCGM's diagnostics.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

#include "core/model/result.h"
#include "core/runtime/json.h"

namespace gpuward::exporter {

// How many bytes the object that `text` begins with takes, braces within strings not counted; 0
// where `text` does not begin with `{` or the object has no end.
[[nodiscard]] std::size_t json_object_length(std::string_view text);

// The first object of `text` that parses and that `is_wanted`. Bytes that are no UTF-8 are replaced
// first. kNotFound: no object at all; kInvalid: one that has no end (cut off) or does not parse;
// kTooLarge: more than `limits` allow.
[[nodiscard]] Result<Json> find_json_object(std::string_view text, const JsonLimits& limits,
                                            const std::function<bool(const Json&)>& is_wanted);

}  // namespace gpuward::exporter
