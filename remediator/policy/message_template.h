// The text of a notification with placeholders: "{{severity}} on {{node_name}}". Strict: unknown
// placeholders are rejected when the policy is read. Pure; used by the policy and the sinks.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "core/model/result.h"

namespace gpuward::remediator {

// kInvalid, with a message for the operator, if a placeholder is unknown or not closed.
[[nodiscard]] Status check_template(std::string_view text);

// Calls `value_of` for each placeholder of a text that check_template() accepts; invalid parts stay
// unchanged. A value is never read as a template again.
[[nodiscard]] std::string fill_template(
    std::string_view text, const std::function<std::string(std::string_view)>& value_of);

}  // namespace gpuward::remediator
