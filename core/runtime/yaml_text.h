// Writes JSON as YAML, for people and programs that prefer it; yaml.h reads YAML. Used by
// core/command_line/output.
#pragma once

#include <string>
#include <string_view>

#include "core/model/result.h"

namespace gpuward {

// Block style, with a line end. A text is quoted unless every reader of YAML reads it as a text:
// "on", "1e3" and "2026-01-01" stay texts. kInvalid, kTooLarge: parse_json().
[[nodiscard]] Result<std::string> json_to_yaml(std::string_view json);

}  // namespace gpuward
