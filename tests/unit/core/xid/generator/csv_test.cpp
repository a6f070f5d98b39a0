#include "core/xid/generator/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gpuward::xid_generator {
namespace {

using testing::ElementsAre;

TEST(ReadCsv, SplitsPlainAndQuotedFields) {
  Errors errors;
  const auto csv = read_csv("x.csv", "a,b\n1,\"two, and \"\"three\"\"\"\n", errors);
  EXPECT_TRUE(errors.empty());
  ASSERT_EQ(csv.rows.size(), 2U);
  EXPECT_EQ(csv.rows[1].line, 2U);
  EXPECT_THAT(csv.rows[1].fields, ElementsAre("1", "two, and \"three\""));
}

TEST(ReadCsv, KeepsEmptyFields) {
  Errors errors;
  EXPECT_THAT(read_csv("x.csv", "a,,\n", errors).rows.at(0).fields, ElementsAre("a", "", ""));
}

TEST(ReadCsv, NamesTheLineOfAQuoteThatDoesNotEnd) {
  Errors errors;
  (void)read_csv("x.csv", "a\n\"b\n", errors);
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_THAT(errors[0], testing::StartsWith("x.csv:2: "));
}

TEST(ReadCsv, RefusesAnEmptyLine) {
  Errors errors;
  (void)read_csv("x.csv", "a\n\nb\n", errors);
  EXPECT_THAT(errors, ElementsAre("x.csv:2: empty line: remove it"));
}

TEST(ReadCsv, TakesALastLineWithoutABreak) {
  Errors errors;
  EXPECT_EQ(read_csv("x.csv", "a\nb", errors).rows.size(), 2U);
}

}  // namespace
}  // namespace gpuward::xid_generator
