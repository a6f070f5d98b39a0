// One fuzz input for the reader of the kubelet's answers: any bytes, read as a message. Used by
// libFuzzer (clang) and by the mutation driver, which runs under any compiler.
#pragma once

#include <string_view>

namespace gpuward::fuzz {

// Ends the program where something that always has to hold does not.
void check_pod_resources(std::string_view input);

}  // namespace gpuward::fuzz
