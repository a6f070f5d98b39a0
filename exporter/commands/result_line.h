// A check's line of JSON, read back: how sweep and quarantine learn what a check has said in
// another program. Pure; the counterpart of to_result_json().
#pragma once

#include <string_view>

#include "core/model/check_result.h"
#include "core/model/result.h"

namespace gpuward::exporter {

// One result in the form of the replaced suite; times and findings are not in it. kInvalid for
// anything else.
[[nodiscard]] Result<CheckResult> parse_result_line(std::string_view line);

}  // namespace gpuward::exporter
