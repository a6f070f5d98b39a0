// Tables for people: columns as wide as their widest cell. Used by the commands of both programs
// that print one.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace gpuward {

// All rows have as many cells as the first, which is the head.
[[nodiscard]] std::string table_text(const std::vector<std::vector<std::string>>& rows);
void print_table(const std::vector<std::vector<std::string>>& rows, std::ostream& out);

}  // namespace gpuward
