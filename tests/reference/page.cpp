#include "tests/reference/page.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "core/runtime/files.h"
#include "core/runtime/text.h"
#include "tests/places.inc"

namespace gpuward::reference {
namespace {

std::string plain(std::string_view cell) {
  cell = trim(cell);
  const bool is_code =
      cell.size() > 2 && cell.front() == '`' && cell.find('`', 1) + 1 == cell.size();
  return std::string(is_code ? cell.substr(1, cell.size() - 2) : cell);
}

Cells cells_of(const std::string& row) {
  Cells cells;
  std::istringstream parts(row.substr(1, row.rfind('|') - 1));
  for (std::string cell; std::getline(parts, cell, '|');) cells.push_back(plain(cell));
  return cells;
}

}  // namespace

std::string tree_file(std::string_view path) {
  auto text = read_file(std::string(GPUWARD_SOURCE_DIR "/").append(path));
  EXPECT_TRUE(text) << path;
  return std::move(text).value_or("");
}

std::vector<Cells> rows_below(std::string_view page, std::string_view heading) {
  std::vector<Cells> rows;
  bool is_wanted = false;
  std::istringstream lines(tree_file(page));
  std::string before;
  for (std::string line; std::getline(lines, line); before = line) {
    if (line.starts_with("## ")) is_wanted = line.substr(3) == heading;
    if (!is_wanted || !line.starts_with("| ")) continue;
    const bool is_head = !before.starts_with("|");
    if (!is_head) rows.push_back(cells_of(line));
  }
  return rows;
}

void expect_file(const std::string& path, const std::string& text) {
  if (std::getenv("GPUWARD_WRITE_DOCS") != nullptr) {
    std::ofstream(std::string(GPUWARD_SOURCE_DIR "/") + path) << text;
  } else {
    EXPECT_EQ(tree_file(path), text) << path << ": write it with `./dev docs`";
  }
}

void expect_tables(const std::string& page, const std::string& mark,
                   const std::function<std::string(const std::string& line)>& table_of) {
  std::istringstream lines(tree_file(page));
  std::string text;
  bool is_in_table = false;
  for (std::string line; std::getline(lines, line);) {
    is_in_table = is_in_table && line.starts_with("|");
    if (!is_in_table) text += line + "\n";
    if (!line.starts_with(mark)) continue;
    text += table_of(line);
    is_in_table = true;
  }
  expect_file(page, text);
}

std::vector<std::string> code_words(std::string_view text) {
  std::vector<std::string> words;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("    ")) continue;
    for (auto open = line.find('`'); open != std::string::npos;) {
      const auto close = line.find('`', open + 1);
      if (close == std::string::npos) break;
      words.push_back(line.substr(open + 1, close - open - 1));
      open = line.find('`', close + 1);
    }
  }
  return words;
}

std::vector<std::string> to_write_in(const std::string& place) {
  std::vector<std::string> yaml;
  for (const char* heading :
       {"The GPU health check suite", "node-problem-detector with GPUs, and Draino",
        "AMD's device-metrics-exporter", "The resilience monitor on EKS",
        "konduktor's node controller"}) {
    const auto rows = rows_below("docs/migration.md", heading);
    EXPECT_FALSE(rows.empty()) << heading;
    for (const Cells& row : rows) {
      if (row.size() == 3 && row[2] == place) yaml.push_back(row[1]);
    }
  }
  EXPECT_FALSE(yaml.empty()) << place;
  return yaml;
}

}  // namespace gpuward::reference
