// Bytes as text: base64 of RFC 4648 section 4, and hexadecimal digits. Used for kubeconfig's *-data
// fields, basic authentication, signatures, escaped texts, and unguessable names.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace gpuward {

// With padding, on one line.
[[nodiscard]] std::string encode_base64(std::string_view bytes);

// Padding is required; white space between the characters is skipped (YAML folds long lines);
// nullopt for anything else.
[[nodiscard]] std::optional<std::string> decode_base64(std::string_view text);

// Two lower-case digits a byte.
[[nodiscard]] std::string to_hex(std::string_view bytes);

// Returns the bytes of such digits, also in upper case; nullopt for any other text.
[[nodiscard]] std::optional<std::string> from_hex(std::string_view digits);

// Returns this many digits from the system's generator, four random bits each. Any thread; throws
// if the system has no generator, but Linux has one.
[[nodiscard]] std::string random_hex(std::size_t digits);

}  // namespace gpuward
