// The messages of the kernel that print names which a process chooses
// (tests/testdata/kernel_log/chosen_names.txt, made by chosen_names.py beside it).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gpuward::xid::test {

// Returns them with {comm} and {file} in the place of the names.
[[nodiscard]] std::vector<std::string> load_chosen_names();
// Returns the message that the kernel prints.
[[nodiscard]] std::string with_names(std::string_view message, std::string_view comm,
                                     std::string_view file);

}  // namespace gpuward::xid::test
