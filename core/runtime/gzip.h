// Compresses bytes as a gzip member, for clients that send Accept-Encoding: gzip. zlib is included
// in gzip.cpp only.
#pragma once

#include <string>
#include <string_view>

namespace gpuward {

// Returns "" if zlib has no memory: the caller then serves the plain text.
[[nodiscard]] std::string gzip(std::string_view plain);

// Whether a client with this Accept-Encoding header accepts gzip: by name or by `*`, with a q above
// 0. False for an absent or empty header.
[[nodiscard]] bool accepts_gzip(std::string_view accept_encoding);

}  // namespace gpuward
