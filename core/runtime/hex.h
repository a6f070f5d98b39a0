// Bytes as hexadecimal digits, and digits that nobody can guess. Used by the signer of AWS, by
// whoever needs a name or a token that nobody else has, and by nccl-pair.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gpuward {

// Two lower-case digits a byte.
[[nodiscard]] std::string to_hex(std::string_view bytes);

// So many digits from the system's generator, four random bits each. Any thread; throws where the
// system has no such generator, which Linux has.
[[nodiscard]] std::string random_hex(std::size_t digits);

}  // namespace gpuward
