// Bytes as a gzip member, for clients that say Accept-Encoding: gzip. zlib is included in gzip.cpp
// only.
#pragma once

#include <string>
#include <string_view>

namespace gpuward {

// Empty where zlib has no memory: the caller then serves the plain text.
[[nodiscard]] std::string gzip(std::string_view plain);

// Whether a client with this Accept-Encoding header takes gzip: named, or by `*`, with a q above 0.
// An absent or empty header does not.
[[nodiscard]] bool accepts_gzip(std::string_view accept_encoding);

}  // namespace gpuward
