// Secrets compared without telling by the time taken how much of a guess was right: both sides are
// hashed and the hashes, which have one length, are compared whole. Used by the authenticators of
// the server.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace gpuward::http {

using SecretDigest = std::array<unsigned char, 32>;

[[nodiscard]] SecretDigest digest_of(std::string_view secret);
[[nodiscard]] SecretDigest keyed_digest_of(std::string_view key, std::string_view secret);
[[nodiscard]] bool equal_in_constant_time(const SecretDigest& left, const SecretDigest& right);

}  // namespace gpuward::http
