// Reads the catalogue's data files: comma-separated text with quotes (RFC 4180), a first line that
// names the columns. Used by the generator at build time only.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gpuward::xid_generator {

struct CsvRow {
  std::size_t line = 0;  // 1 and up
  std::vector<std::string> fields;
};

struct Csv {
  std::string file;          // as it is named in errors
  std::vector<CsvRow> rows;  // the first one names the columns
};

// Each fault as "file:line: what, and what to do".
using Errors = std::vector<std::string>;

[[nodiscard]] std::string at(const Csv& csv, std::size_t line, std::string_view fault);

// A record per line; a quoted field may hold commas and doubled quotes, not a line break. An empty
// line or a quote that does not end is an error.
[[nodiscard]] Csv read_csv(std::string file, std::string_view text, Errors& errors);

}  // namespace gpuward::xid_generator
