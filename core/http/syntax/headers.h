// Header fields, for both sides of HTTP: names compare in any case. Used by both sides and by the
// clients of AWS.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gpuward::http {

using HeaderList = std::vector<std::pair<std::string, std::string>>;

[[nodiscard]] bool same_name(std::string_view left, std::string_view right);

// Returns the first field of that name; nullptr if there is none.
[[nodiscard]] const std::string* find_header(const HeaderList& headers, std::string_view name);
// Returns its value; empty if there is none.
[[nodiscard]] std::string_view header_value(const HeaderList& headers, std::string_view name);
[[nodiscard]] std::size_t count_headers(const HeaderList& headers, std::string_view name);

// Whether a list like "TE, keep-alive" contains the word, in any case.
[[nodiscard]] bool has_word(std::string_view list, std::string_view word);

// Whether the text has no character that could end the field and begin another.
[[nodiscard]] bool is_field_text(std::string_view text);

}  // namespace gpuward::http
