// SHA-256, plain and keyed, and a comparison of secrets whose time does not depend on the correct
// part of a guess: it hashes both sides and compares the whole hashes. Used by the authenticators
// of the server, the signer of AWS, nccl-pair, and for names.
#pragma once

#include <array>
#include <string_view>

namespace gpuward {

using Digest = std::array<unsigned char, 32>;

[[nodiscard]] Digest digest_of(std::string_view text);
[[nodiscard]] Digest keyed_digest_of(std::string_view key, std::string_view text);
[[nodiscard]] bool equal_in_constant_time(const Digest& left, const Digest& right);

[[nodiscard]] inline std::string_view view_of(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

}  // namespace gpuward
