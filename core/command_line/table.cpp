#include "core/command_line/table.h"

#include <algorithm>
#include <cstddef>
#include <iomanip>
#include <ostream>
#include <sstream>

#include "core/runtime/text.h"

namespace gpuward {

void print_table(const std::vector<std::vector<std::string>>& values, std::ostream& out) {
  auto rows = values;
  for (auto& row : rows) {
    for (std::string& cell : row) cell = escaped_line(cell);
  }
  std::vector<std::size_t> widths(rows.empty() ? 0 : rows.front().size());
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  for (const auto& row : rows) {
    for (std::size_t i = 0; i + 1 < row.size(); ++i) {
      out << std::left << std::setw(static_cast<int>(widths[i]) + 2) << row[i];
    }
    out << row.back() << "\n";
  }
}

std::string table_text(const std::vector<std::vector<std::string>>& rows) {
  std::ostringstream out;
  print_table(rows, out);
  return out.str();
}

}  // namespace gpuward
