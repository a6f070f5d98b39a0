// The text of a notification with placeholders in it: "{{severity}} on {{node_name}}". Strict: what
// is not known is refused when the policy is read. Pure; used by the policy and the sinks.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "core/model/result.h"

namespace gpuward::remediator {

// kInvalid, in words for the operator, where a placeholder is unknown or not closed.
[[nodiscard]] Status check_template(std::string_view text);

// `value_of` is asked for each placeholder. Of a text that check_template() has passed; what it
// would not have passed stays as it is. A value is never read as a template again.
[[nodiscard]] std::string fill_template(
    std::string_view text, const std::function<std::string(std::string_view)>& value_of);

}  // namespace gpuward::remediator
