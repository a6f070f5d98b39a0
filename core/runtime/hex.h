// Bytes as hexadecimal digits, and digits that nobody can guess. Used by the signer of AWS, by
// whoever needs a name or a token that nobody else has, by nccl-pair, and where texts are escaped.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace gpuward {

// Two lower-case digits a byte.
[[nodiscard]] std::string to_hex(std::string_view bytes);

// The bytes of such digits, capital ones too; nullopt where the text is anything else.
[[nodiscard]] std::optional<std::string> from_hex(std::string_view digits);

// So many digits from the system's generator, four random bits each. Any thread; throws where the
// system has no such generator, which Linux has.
[[nodiscard]] std::string random_hex(std::size_t digits);

}  // namespace gpuward
