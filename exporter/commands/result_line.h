// Parses a check's line of JSON, from which sweep and quarantine get the result of a check in
// another program. Pure; the counterpart of to_result_json().
#pragma once

#include <string_view>

#include "core/model/check_result.h"
#include "core/model/result.h"

namespace gpuward::exporter {

// Returns one result in the format of the replaced suite, without times and findings. kInvalid for
// any other text.
[[nodiscard]] Result<CheckResult> parse_result_line(std::string_view line);

}  // namespace gpuward::exporter
