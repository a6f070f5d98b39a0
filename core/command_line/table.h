// Tables for people: columns as wide as their widest cell. Used by the commands of both programs
// that print one.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace gpuward {

// Each row has as many cells as the first, which is the head. Control characters in a cell, line
// ends included, are escaped, so that a value cannot fake a row.
[[nodiscard]] std::string table_text(const std::vector<std::vector<std::string>>& rows);
void print_table(const std::vector<std::vector<std::string>>& values, std::ostream& out);

}  // namespace gpuward
