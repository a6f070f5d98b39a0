#include <algorithm>
#include <map>
#include <regex>
#include <sstream>

#include "tests/architecture/rules.h"

namespace gpuward::architecture {
namespace {

constexpr std::string_view kPage = "docs/contracts.md";

struct Row {
  std::size_t line = 0;
  std::string number, name, tests;  // the number of a row of a seed: "001-12"
};

// The rows of all tables of the page, without the heads: two columns, and the number before them if
// the row has one.
std::vector<Row> rows_of(const std::string& text) {
  static const std::regex kRow(R"(\| (?:(\d{3}-\d+|#) \| )?(.+) \| (.+) \|)");
  std::vector<Row> rows;
  std::istringstream stream(text);
  std::size_t number = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    std::smatch match;
    if (!std::regex_match(line, match, kRow) || match[2] == "row") continue;
    rows.push_back({number, match[1], match[2], match[3]});
  }
  return rows;
}

struct NamedTest {
  std::string file, suite, name;
};

// `unit/core/xid/prefix_test.cpp:Prefix.IsTakenOff`, `cluster/cases/pods.py:Pods.test_one`
std::vector<NamedTest> tests_in(const std::string& cell) {
  static const std::regex kTest(R"(`([a-z0-9_/]+\.(?:cpp|py)):(\w+)\.(\w+)`)");
  std::vector<NamedTest> tests;
  for (std::sregex_iterator match(cell.begin(), cell.end(), kTest), end; match != end; ++match) {
    tests.push_back({"tests/" + (*match)[1].str(), (*match)[2], (*match)[3]});
  }
  return tests;
}

// Whether the file defines it; its name may be on the next line.
bool is_defined(const SourceTree& tree, const NamedTest& test) {
  const auto file = std::ranges::find(tree.files, test.file, &SourceFile::path);
  if (file == tree.files.end()) return false;
  if (test.file.ends_with(".py")) {
    return file->text.contains("class " + test.suite + "(") &&
           file->text.contains("    def " + test.name + "(self");
  }
  const std::regex definition("TEST(_F|_P)?\\(\\s*" + test.suite + ",\\s*" + test.name + "\\s*\\)");
  return std::regex_search(file->code, definition);
}

void check_row(const SourceTree& tree, const Row& row, Violations& found) {
  const auto tests = tests_in(row.tests);
  if (tests.empty() && !row.tests.starts_with("not built: ")) {
    found.push_back({std::string(kPage), row.line, "no test, and not one word why"});
  }
  for (const NamedTest& test : tests) {
    if (is_defined(tree, test)) continue;
    found.push_back(
        {std::string(kPage), row.line, test.file + " has no test " + test.suite + "." + test.name});
  }
}

}  // namespace

Violations contracts_have_tests(const SourceTree& tree) {
  const auto page = std::ranges::find(tree.files, kPage, &SourceFile::path);
  if (page == tree.files.end()) return {{std::string(kPage), 0, "is missing"}};
  Violations found;
  std::map<std::string, int> last;  // by seed
  for (const Row& row : rows_of(page->text)) {
    check_row(tree, row, found);
    if (row.number.empty()) continue;
    const std::string seed = row.number.substr(0, 3);
    if (row.number != seed + "-" + std::to_string(++last[seed]))
      found.push_back(
          {std::string(kPage), row.line, "the rows of a seed count from 1 without a gap"});
  }
  return found;
}

}  // namespace gpuward::architecture
