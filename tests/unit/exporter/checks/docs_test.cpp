// docs/checks.md against the tables in the code, both ways.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "exporter/checks/check/finding_codes.h"
#include "exporter/checks/rules/witness.h"
#include "exporter/checks/schedule.h"
#include "tests/places.inc"

namespace gpuward::exporter {
namespace {

std::set<std::string> lines_of_docs(const std::string& page = "checks.md") {
  std::ifstream in(std::string{GPUWARD_SOURCE_DIR} + "/docs/" + page, std::ios::binary);
  std::set<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.insert(line);
  return lines;
}

std::string row_of(const FindingCode& code) {
  std::ostringstream row;
  row << "| `" << code.code << "` | " << code.check << " | " << to_string(code.severity) << " | "
      << to_string(code.seed_severity) << " | " << to_string(code.cleared_by) << " | "
      << code.meaning << " |";
  return row.str();
}

TEST(ChecksDocs, HaveARowForEachCodeAsItIsInForce) {
  const auto lines = lines_of_docs();
  for (const FindingCode& code : finding_codes()) {
    EXPECT_TRUE(lines.contains(row_of(code))) << row_of(code);
  }
}

TEST(ChecksDocs, NameNoCodeThatIsNot) {
  const std::regex row(R"(\| `([a-z0-9_]+)` \| [^|]+ \| \w+ \| \w+ \| \w+ \| .*)");
  std::size_t rows = 0;
  for (const std::string& line : lines_of_docs()) {
    std::smatch match;
    if (!std::regex_match(line, match, row)) continue;
    ++rows;
    const auto codes = finding_codes();
    EXPECT_NE(std::ranges::find(codes, match[1].str(), &FindingCode::code), codes.end()) << line;
  }
  EXPECT_EQ(rows, finding_codes().size());
}

TEST(ChecksDocs, HaveARowForEachCheckWithItsNamesAndItsTimeLimit) {
  for (const CheckEntry& entry : all_checks()) {
    std::ostringstream begin;
    begin << "| `" << entry.name << "` | `" << entry.short_name << "` |";
    const auto limit = std::chrono::duration_cast<std::chrono::seconds>(time_limit_of(entry, {}));
    const std::string end = " | " + std::to_string(limit.count()) + " s |";
    const auto lines = lines_of_docs();
    EXPECT_TRUE(std::ranges::any_of(lines,
                                    [&](const std::string& line) {
                                      return line.starts_with(begin.str()) && line.ends_with(end);
                                    }))
        << begin.str() << " ..." << end;
  }
}

// CONTRACTS A: lightweight 0 to 3, intensive 4 to 6.
TEST(AllChecks, AreTheSevenOfTheReplacedSuiteInItsTwoSuites) {
  int number = 0;
  for (const CheckEntry& entry : all_checks()) {
    EXPECT_EQ(entry.number, number);
    EXPECT_EQ(entry.suite, number <= 3 ? Suite::kLightweight : Suite::kIntensive) << number;
    EXPECT_TRUE(entry.name.starts_with(std::to_string(number) + "-")) << entry.name;
    ++number;
  }
  EXPECT_EQ(number, 7);
}

TEST(FindingCodes, EachHasItsOwnRow) {
  std::size_t number = 0;
  for (const FindingCode& row : finding_codes()) {
    EXPECT_EQ(row.id, static_cast<Code>(number++)) << row.code;
    EXPECT_EQ(row_of(row.id).code, row.code);
  }
}

TEST(FindingCodes, AreWordsOfLowerCaseAndEachStandsOnce) {
  std::set<std::string_view> seen;
  for (const FindingCode& code : finding_codes()) {
    EXPECT_TRUE(std::regex_match(std::string(code.code), std::regex("[a-z][a-z0-9_]*")));
    EXPECT_TRUE(seen.insert(code.code).second) << code.code;
  }
}

void append(std::string& list, std::string_view word, std::string_view mark) {
  list += (list.empty() ? "" : ", ") + std::string(mark) + std::string(word) + std::string(mark);
}

std::string row_of(const Witnesses& row) {
  std::string codes, readings, records;
  for (const auto code : row.codes) append(codes, code, "");
  for (const Code code : row.readings) append(readings, name_of(code), "`");
  for (const xid::Kind kind : row.marked_records) append(records, xid::to_string(kind), "`");
  std::string line(xid::to_string(row.kind));
  if (!codes.empty()) line += " " + codes;
  return "| " + line + " | " + readings + " | " + records + " | " + std::string(row.why) + " |";
}

TEST(XidDocs, HaveARowForEachRowOfTheWitnesses) {
  const auto lines = lines_of_docs("xid.md");
  for (const Witnesses& row : witness_table()) {
    EXPECT_TRUE(lines.contains(row_of(row))) << row_of(row);
  }
}

}  // namespace
}  // namespace gpuward::exporter
