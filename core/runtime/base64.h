// Base64 as RFC 4648 section 4 has it, of any bytes. Used for kubeconfig's *-data fields and for
// basic authentication.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace gpuward {

// With padding, on one line.
[[nodiscard]] std::string encode_base64(std::string_view bytes);

// Padding is required; white space between the characters is skipped (YAML folds long lines);
// nullopt for anything else.
[[nodiscard]] std::optional<std::string> decode_base64(std::string_view text);

}  // namespace gpuward
