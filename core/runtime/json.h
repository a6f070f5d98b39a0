// The only use of nlohmann-json. parse_json() is strict about untrusted input: caps on size, depth
// and count, no duplicate keys, no integer beyond 64 bits, valid UTF-8 only. dump_json() never
// throws: it replaces bad UTF-8. JSON stays inside .cpp files; seams use plain structs or JSON
// text, or pass a parsed value by its name (json_fwd.h).
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
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
  std::size_t max_members = std::numeric_limits<std::size_t>::max();      // of one object
  std::size_t max_token_bytes = std::numeric_limits<std::size_t>::max();  // a string, a number
};

// kInvalid with the byte offset of the fault, kTooLarge beyond a cap. Safe on any thread with a
// normal stack; max_depth bounds the recursion.
[[nodiscard]] Result<Json> parse_json(std::string_view text, const JsonLimits& limits = {});

// A list of small objects in a text that may be large.
struct JsonList {
  std::string_view key;  // the member of the root that is the list; empty: the root is the list
  // Called with each element in order, while the text is being read. The element has its members
  // and the members of objects in it; containers below those, and all arrays, are empty in it.
  std::function<void(const Json&)> on_element;
  // The most members kept of one element, including those of objects in it; kTooLarge beyond.
  std::size_t max_kept = 4'000;
};

// Checks the text like parse_json, with the same errors, but holds only one element of it in
// memory. Returns the root with its members, in which all containers are empty. If it rejects a
// text, it has called on_element with the elements before the fault.
[[nodiscard]] Result<Json> parse_json_list(std::string_view text, const JsonLimits& limits,
                                           const JsonList& list);

// One line, keys sorted, invalid UTF-8 replaced by U+FFFD, control characters escaped
// (is_control_character in text.h). Never throws.
[[nodiscard]] std::string dump_json(const Json& value);

// Readers that never throw: return the member of an object if it exists and has the type, else the
// fallback.
[[nodiscard]] std::string string_at(const Json& object, std::string_view key,
                                    std::string_view fallback = {});
[[nodiscard]] const Json& member_at(const Json& object,
                                    std::string_view key);  // null Json if absent

}  // namespace gpuward
