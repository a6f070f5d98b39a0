// Header fields as both sides of HTTP see them: names compare whatever their case. Used by
// both, and by the clients of AWS.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gpuward::http {

using HeaderList = std::vector<std::pair<std::string, std::string>>;

[[nodiscard]] bool same_name(std::string_view left, std::string_view right);

// The first field of that name; nullptr where there is none.
[[nodiscard]] const std::string* find_header(const HeaderList& headers, std::string_view name);
// Its value; empty where there is none.
[[nodiscard]] std::string_view header_value(const HeaderList& headers, std::string_view name);
[[nodiscard]] std::size_t count_headers(const HeaderList& headers, std::string_view name);

// A list like "TE, keep-alive" names the word, whatever its case.
[[nodiscard]] bool has_word(std::string_view list, std::string_view word);

// Nothing in it that could end the field and begin another one.
[[nodiscard]] bool is_field_text(std::string_view text);

}  // namespace gpuward::http
