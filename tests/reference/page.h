// The tables of a page of docs/, which the tests of this folder hold against the programs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gpuward::reference {

// One row; a cell that is all code is without its backticks.
using Cells = std::vector<std::string>;

// The rows of all tables below this heading of the second level; heads are left out.
[[nodiscard]] std::vector<Cells> rows_below(std::string_view page, std::string_view heading);

// The text of a file of the tree; empty, and a failure of the test, where it is not there.
[[nodiscard]] std::string tree_file(std::string_view path);

// What stands in backticks, in order; blocks of code are left out.
[[nodiscard]] std::vector<std::string> code_words(std::string_view text);

// What the tables of docs/migration.md say to write in that file, `policy` or `exporter`.
[[nodiscard]] std::vector<std::string> to_write_in(const std::string& place);

}  // namespace gpuward::reference
