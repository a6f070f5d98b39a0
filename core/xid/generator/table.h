// The data files of the catalogue: which columns each has, what makes a row unique, and the C++
// that a file becomes. Used by the generator and its tests.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "core/xid/generator/column.h"
#include "core/xid/generator/csv.h"

namespace gpuward::xid_generator {

struct Table {
  std::string_view file;      // "xid.csv"
  std::string_view type;      // of a row in C++: "Row"
  std::string_view function;  // that hands the rows out: "xid_rows"
  std::span<const Column> columns;
  std::size_t keys = 1;    // so many leading columns together name a row once
  bool ascending = false;  // by the first column: the catalogue searches in halves
};

[[nodiscard]] std::span<const Table> all_tables();

// The C++ definition of the table. Every fault of the file goes to `errors`, not only the first;
// with any fault the text is not to be used.
[[nodiscard]] std::string generate(const Table& table, const Csv& csv, Errors& errors);

}  // namespace gpuward::xid_generator
