// Finds the known name that an unknown word was probably meant to be. Pure; used for words of
// command lines and for names of nodes, alerts and exclusions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gpuward {

// Returns the known word most like `word`: a letter or two away, or with the same beginning. Empty
// if none is like it.
[[nodiscard]] std::string closest(std::string_view word, const std::vector<std::string>& known);

// ": did you mean \"gpu-01\"?"; empty if no known word is like it.
[[nodiscard]] std::string did_you_mean(std::string_view word,
                                       const std::vector<std::string>& known);

}  // namespace gpuward
