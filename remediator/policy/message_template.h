// The text of a notification with placeholders: "{{severity}} on {{node_name}}". Strict: unknown
// placeholders are rejected when the policy is read. Pure; used by the policy and the sinks.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "core/model/result.h"

namespace gpuward::remediator {

// Returns kInvalid, with a message for the operator, if a placeholder is unknown or not closed.
[[nodiscard]] Status check_template(std::string_view text);

// Returns the text with each placeholder replaced by the result of `value_of`. Invalid parts stay
// unchanged. Placeholders inside a value are not replaced.
[[nodiscard]] std::string fill_template(
    std::string_view text, const std::function<std::string(std::string_view)>& value_of);

}  // namespace gpuward::remediator
