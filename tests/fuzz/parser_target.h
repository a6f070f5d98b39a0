// One fuzz input for the kernel-log reader: any bytes, read as a record and as lines of a text log.
// Used by libFuzzer (clang) and by the mutation driver, which runs under any compiler.
#pragma once

#include <string_view>

namespace gpuward::fuzz {

// Ends the program where something that always has to hold does not.
void check_parser(std::string_view input);

}  // namespace gpuward::fuzz
