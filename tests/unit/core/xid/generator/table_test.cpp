#include "core/xid/generator/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace gpuward::xid_generator {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kHeader =
    "code,mnemonic,description,action,severity,seed_severity,cleared_by,application_error,clears,"
    "why,cleared_why\n";

const Table& xid_table() { return *std::ranges::find(all_tables(), "xid.csv", &Table::file); }

struct Outcome {
  std::string cpp;
  Errors errors;
};

Outcome generated(const std::string& rows) {
  Outcome outcome;
  const auto csv = read_csv("xid.csv", kHeader + rows, outcome.errors);
  outcome.cpp = generate(xid_table(), csv, outcome.errors);
  return outcome;
}

TEST(Generate, WritesARow) {
  const auto [cpp, errors] =
      generated("79,FELL,gone,RESTART_BM,reboot,reboot,reboot,no,no,because,so\n");
  EXPECT_THAT(errors, IsEmpty());
  EXPECT_THAT(cpp, HasSubstr("std::span<const Row> xid_rows()"));
  EXPECT_THAT(cpp, HasSubstr(".code = 79U, .mnemonic = \"FELL\""));
}

TEST(Generate, RefusesABlankWithItsFileLineAndColumn) {
  EXPECT_THAT(generated("79,FELL,gone,RESTART_BM,reboot,reboot,reboot,no,no,because,\n").errors,
              ElementsAre("xid.csv:2: column cleared_why: is blank: fill it in"));
}

TEST(Generate, TwoTiersForOneCodeAreRefused) {
  const std::string row = "79,FELL,gone,RESTART_BM,reboot,reboot,reboot,no,no,because,so\n";
  EXPECT_THAT(generated(row + row).errors, ElementsAre("xid.csv:3: 79 is already in line 2"));
}

TEST(Generate, RefusesARowOutOfOrder) {
  EXPECT_THAT(generated("79,FELL,gone,RESTART_BM,reboot,reboot,reboot,no,no,because,so\n"
                        "8,FELL,gone,RESTART_BM,reboot,reboot,reboot,no,no,because,so\n")
                  .errors,
              ElementsAre("xid.csv:3: 8 is out of order: sort by code"));
}

TEST(Generate, RefusesAWordThatNobodyKnows) {
  EXPECT_THAT(generated("79,FELL,gone,RESTART_BM,reboot,reboot,prayer,no,no,because,so\n").errors,
              ElementsAre(HasSubstr("xid.csv:2: column cleared_by: unknown word \"prayer\"")));
}

TEST(Generate, RefusesARowOfTheWrongLength) {
  EXPECT_THAT(generated("79,FELL\n").errors, ElementsAre("xid.csv:2: 2 fields where 11 belong"));
}

TEST(Generate, RefusesAHeaderThatNamesOtherColumns) {
  Errors errors;
  const auto csv = read_csv("xid.csv", "code,name\n79,FELL\n", errors);
  (void)generate(xid_table(), csv, errors);
  EXPECT_THAT(errors.at(0), HasSubstr("xid.csv:1: the first line has to be code,mnemonic,"));
}

TEST(Generate, RefusesATableWithoutRows) {
  EXPECT_THAT(generated("").errors, ElementsAre("xid.csv:1: no rows"));
}

TEST(Generate, NamesEveryFault) {
  EXPECT_EQ(generated("79,,gone,RESTART_BM,worse,reboot,reboot,no,no,because,so\n").errors.size(),
            2U);
}

}  // namespace
}  // namespace gpuward::xid_generator
