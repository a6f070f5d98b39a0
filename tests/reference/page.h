// The tables of a page of docs/, which the tests of this folder hold against the programs.
#pragma once

#include <functional>
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

// That this is the text of the file of the tree, or, where GPUWARD_WRITE_DOCS is set, writes it.
void expect_file(const std::string& path, const std::string& text);

// The same of the tables below the lines that begin with `mark`; `table_of` makes one from its
// line.
void expect_tables(const std::string& page, const std::string& mark,
                   const std::function<std::string(const std::string& line)>& table_of);

// What stands in backticks, in order; blocks of code are left out.
[[nodiscard]] std::vector<std::string> code_words(std::string_view text);

// What the tables of docs/migration.md say to write in that file, `policy` or `exporter`.
[[nodiscard]] std::vector<std::string> to_write_in(const std::string& place);

}  // namespace gpuward::reference
