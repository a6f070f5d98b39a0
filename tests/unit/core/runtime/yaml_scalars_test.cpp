#include "core/runtime/yaml_scalars.h"

#include <gtest/gtest.h>

#include <limits>

namespace gpuward {
namespace {

using namespace std::chrono_literals;

TEST(YamlScalars, KnowTwoBooleans) {
  EXPECT_EQ(parse_yaml_bool("true"), true);
  EXPECT_EQ(parse_yaml_bool("false"), false);
  for (const std::string_view text : {"yes", "no", "on", "off", "True", "FALSE", "1", "y", ""}) {
    EXPECT_EQ(parse_yaml_bool(text), std::nullopt) << text;
  }
}

TEST(YamlScalars, ReadIntegersInDecimalOnly) {
  EXPECT_EQ(parse_yaml_integer("0"), 0);
  EXPECT_EQ(parse_yaml_integer("-12"), -12);
  EXPECT_EQ(parse_yaml_integer("9223372036854775807"), std::numeric_limits<std::int64_t>::max());
  for (const std::string_view text : {"010", "0x10", "0o10", "1_000", "+1", "1.0", "1e3", "-", "",
                                      "-01", "9223372036854775808", ".inf"}) {
    EXPECT_EQ(parse_yaml_integer(text), std::nullopt) << text;
  }
}

TEST(YamlScalars, ReadNumbersThatAreFinite) {
  EXPECT_EQ(parse_yaml_number("0.5"), 0.5);
  EXPECT_EQ(parse_yaml_number("-3"), -3.0);
  for (const std::string_view text : {"inf", ".inf", "nan", "1e3", "0x1", "", "1.2.3", "-"}) {
    EXPECT_EQ(parse_yaml_number(text), std::nullopt) << text;
  }
}

TEST(Duration, IsANumberWithAUnit) {
  EXPECT_EQ(parse_duration("90s"), 90s);
  EXPECT_EQ(parse_duration("5m"), 5min);
  EXPECT_EQ(parse_duration("2h"), 2h);
  EXPECT_EQ(parse_duration("1500ms"), 1500ms);
  EXPECT_EQ(parse_duration("7d"), 168h);
  EXPECT_EQ(parse_duration("0s"), 0s);
}

TEST(Duration, MayHaveSeveralUnitsFromLargeToSmall) {
  EXPECT_EQ(parse_duration("1h30m"), 90min);
  EXPECT_EQ(parse_duration("1d2h3m4s5ms"), 26h + 3min + 4s + 5ms);
}

TEST(Duration, IsRefusedWithoutAUnitOrInAnyOtherForm) {
  for (const std::string_view text :
       {"", "5", "s", "5 s", "-5s", "1.5s", "5S", "5sec", "30m1h", "5m5m", "5w",
        "99999999999999999d", "9223372036854775807s", "106751991167d106751991167d"}) {
    EXPECT_EQ(parse_duration(text), std::nullopt) << text;
  }
}

TEST(Duration, IsWrittenInTheLargestUnitThatFits) {
  EXPECT_EQ(to_duration_text(0ms), "0s");
  EXPECT_EQ(to_duration_text(90s), "90s");
  EXPECT_EQ(to_duration_text(120s), "2m");
  EXPECT_EQ(to_duration_text(48h), "2d");
  EXPECT_EQ(to_duration_text(1500ms), "1500ms");
}

}  // namespace
}  // namespace gpuward
