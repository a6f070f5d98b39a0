// Which of some names was meant by a word that is none of them. Pure; used for words of command
// lines and for names of nodes, alerts and exclusions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gpuward {

// The known word that is the most like it: a letter or two away, or begun so. Empty: none is.
[[nodiscard]] std::string closest(std::string_view word, const std::vector<std::string>& known);

// ": did you mean \"gpu-01\"?"; empty where none is like it.
[[nodiscard]] std::string did_you_mean(std::string_view word,
                                       const std::vector<std::string>& known);

}  // namespace gpuward
