// The notices of a Remediation's status as JSON, apart from the rest because there is nothing like
// them elsewhere in it. Pure; used by remediation_json.
#pragma once

#include <vector>

#include "core/runtime/json.h"
#include "remediator/model/notice.h"

namespace gpuward::remediator {

// What cannot be read is not among them.
[[nodiscard]] std::vector<Notice> decode_notices(const Json& list);
[[nodiscard]] Json encode_notices(const std::vector<Notice>& notices);

}  // namespace gpuward::remediator
