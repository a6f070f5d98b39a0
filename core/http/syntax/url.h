// Percent-encoding, queries and paths of URLs. Used by the server, by core/kube to build URLs from
// names that others chose, and by the fake API server to read them.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/model/result.h"

namespace gpuward::http {

// Encodes all characters but A-Z a-z 0-9 - . _ ~ as %XX, '/' included: the result is one segment of
// a path, or one name or value of a query. "." and ".." are encoded too, so that no segment leads
// upwards.
[[nodiscard]] std::string encode_path_segment(std::string_view text);
[[nodiscard]] std::string encode_query_value(std::string_view text);

// kInvalid for a '%' without two hexadecimal digits and for %00.
[[nodiscard]] Result<std::string> decode_percent(std::string_view text);

// The path of a request line: decoded, dot segments resolved, beginning with '/'. kInvalid for a
// broken escape, a control character, or a path that does not begin with '/'.
[[nodiscard]] Result<std::string> normalise_path(std::string_view raw);

// A request's target (RFC 9112, section 3.2) in its parts.
struct RequestTarget {
  std::string_view authority;  // of the absolute form: "gpu-7:10980"; empty: see the Host field
  std::string_view path;       // "/" if the absolute form has none
  std::string_view query;      // without '?'
};

// Reads the origin form, and the absolute form of http and https. kInvalid for others, and for an
// authority that is empty or names a user. The parts point into `target`.
[[nodiscard]] Result<RequestTarget> split_target(std::string_view target);

using Query = std::vector<std::pair<std::string, std::string>>;

// `a=1&b=x%20y&c` in order; '+' is a space; a broken escape is kept as written.
[[nodiscard]] Query parse_query(std::string_view text);
// Returns the first value of that name; empty if there is none.
[[nodiscard]] std::string query_value(const Query& query, std::string_view name);
// `a=1&b=x%20y`, encoded; without '?'.
[[nodiscard]] std::string build_query(const Query& query);

}  // namespace gpuward::http
