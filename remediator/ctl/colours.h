// The words of tables that say how urgent something is, in colour: for terminals, by main(). Pure;
// columns stay as they are, because it works on text that is laid out.
#pragma once

#include <string>
#include <string_view>

namespace gpuward::remediator {

// Phases and severities, an open breaker, a stop. Whole words only.
[[nodiscard]] std::string coloured(std::string_view text);

}  // namespace gpuward::remediator
