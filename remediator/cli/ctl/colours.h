// Colours the words in tables that show urgency, for terminals; used by main(). Pure; columns stay
// aligned, because it works on text that is already laid out.
#pragma once

#include <string>
#include <string_view>

namespace gpuward::remediator {

// Colours phases and severities, an open breaker and a stop. Only whole words.
[[nodiscard]] std::string coloured(std::string_view text);

}  // namespace gpuward::remediator
