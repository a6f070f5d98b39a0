// The one door to nlohmann-json. parse() is strict about what strangers send: caps on size, depth
// and count, no duplicate keys, no integer beyond 64 bits, valid UTF-8 only. dump() never throws:
// bad UTF-8 is replaced. JSON stays inside .cpp files; seams speak plain structs or JSON text, or
// pass a parsed value on by its name alone (json_fwd.h).
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "core/model/result.h"
#include "core/runtime/json_fwd.h"

namespace gpuward {

struct JsonLimits {
  std::size_t max_bytes = 64U << 20U;
  std::size_t max_depth = 32;
  std::size_t max_values = 4'000'000;  // scalars, objects and arrays together
};

// kInvalid with the byte offset of the fault, kTooLarge where a cap is passed. Safe on any thread
// with a normal stack; recursion is bounded by max_depth.
[[nodiscard]] Result<Json> parse_json(std::string_view text, const JsonLimits& limits = {});

// One line, keys sorted, invalid UTF-8 replaced by U+FFFD. Never throws.
[[nodiscard]] std::string dump_json(const Json& value);

// Readers that never throw: the member of an object if it is there and has the type, else the
// fallback.
[[nodiscard]] std::string string_at(const Json& object, std::string_view key,
                                    std::string_view fallback = {});
[[nodiscard]] const Json& member_at(const Json& object,
                                    std::string_view key);  // null Json where absent

}  // namespace gpuward
