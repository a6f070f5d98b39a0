// The tables of a page of docs/, which the tests of this folder compare with the programs.
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

// The text of a file of the tree; if it does not exist, empty, and a failure of the test.
[[nodiscard]] std::string tree_file(std::string_view path);

// Expects this text in the file of the tree; if GPUWARD_WRITE_DOCS is set, writes it instead.
void expect_file(const std::string& path, const std::string& text);

// The same for the tables below the lines that begin with `mark`; `table_of` makes a table from its
// line.
void expect_tables(const std::string& page, const std::string& mark,
                   const std::function<std::string(const std::string& line)>& table_of);

// The texts in backticks, in order, without blocks of code.
[[nodiscard]] std::vector<std::string> code_words(std::string_view text);

// The texts that the tables of docs/migration.md tell you to write into that file, `policy` or
// `exporter`.
[[nodiscard]] std::vector<std::string> to_write_in(const std::string& place);

}  // namespace gpuward::reference
