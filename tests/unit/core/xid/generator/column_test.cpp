#include "core/xid/generator/column.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gpuward::xid_generator {
namespace {

using testing::HasSubstr;

TEST(ToCpp, WritesEachTypeAsCpp) {
  EXPECT_EQ(to_cpp(ColumnType::kNumber, "79"), "79U");
  EXPECT_EQ(to_cpp(ColumnType::kHex, "0x80000000"), "2147483648U");
  EXPECT_EQ(to_cpp(ColumnType::kText, "a \"b\" \\c"), "\"a \\\"b\\\" \\\\c\"");
  EXPECT_EQ(to_cpp(ColumnType::kWord, "RESET_GPU"), "\"RESET_GPU\"");
  EXPECT_EQ(to_cpp(ColumnType::kSeverity, "isolate"), "Severity::kIsolate");
  EXPECT_EQ(to_cpp(ColumnType::kSeverityOrDefault, "default"), "std::nullopt");
  EXPECT_EQ(to_cpp(ColumnType::kClearedBy, "gpu_reset"), "ClearedBy::kGpuReset");
  EXPECT_EQ(to_cpp(ColumnType::kYesNo, "yes"), "true");
  EXPECT_EQ(to_cpp(ColumnType::kFatality, "non-fatal"), "Fatality::kNonFatal");
  EXPECT_EQ(to_cpp(ColumnType::kBits, "------------------------------10"), "{3U, 2U}");
}

TEST(ToCpp, RefusesABlankOfAnyType) {
  for (const auto type : {ColumnType::kNumber, ColumnType::kText, ColumnType::kWord,
                          ColumnType::kSeverity, ColumnType::kClearedBy}) {
    EXPECT_FALSE(to_cpp(type, ""));
    EXPECT_FALSE(to_cpp(type, "  "));
  }
}

TEST(ToCpp, NamesTheWordsThatItKnows) {
  const auto cpp = to_cpp(ColumnType::kSeverity, "catastrophic");
  ASSERT_FALSE(cpp);
  EXPECT_THAT(cpp.error(), HasSubstr("\"catastrophic\""));
  EXPECT_THAT(cpp.error(), HasSubstr("none, monitor, reset, reboot, isolate"));
}

TEST(ToCpp, RefusesTheDefaultWhereNoneIsConfigured) {
  EXPECT_FALSE(to_cpp(ColumnType::kSeverity, "default"));
}

TEST(ToCpp, RefusesNumbersThatDoNotFit) {
  EXPECT_FALSE(to_cpp(ColumnType::kNumber, "-1"));
  EXPECT_FALSE(to_cpp(ColumnType::kNumber, "79x"));
  EXPECT_FALSE(to_cpp(ColumnType::kNumber, "4294967296"));
  EXPECT_FALSE(to_cpp(ColumnType::kHex, "80000000"));
}

TEST(ToCpp, RefusesBitsOfTheWrongLengthOrLetters) {
  EXPECT_FALSE(to_cpp(ColumnType::kBits, "0101"));
  EXPECT_FALSE(to_cpp(ColumnType::kBits, "-------------------------------x"));
}

TEST(ToCpp, RefusesControlCharacters) { EXPECT_FALSE(to_cpp(ColumnType::kText, "a\tb\x01")); }

}  // namespace
}  // namespace gpuward::xid_generator
