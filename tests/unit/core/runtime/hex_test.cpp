#include "core/runtime/hex.h"

#include <gtest/gtest.h>

#include <set>

namespace gpuward {
namespace {

TEST(Hex, HasTwoDigitsForEachByte) {
  EXPECT_EQ(to_hex(""), "");
  EXPECT_EQ(to_hex(std::string_view("\0\x0f\xa5\xff", 4)), "000fa5ff");
}

TEST(Hex, IsReadBackInBothCases) {
  EXPECT_EQ(from_hex("000fA5ff"), std::string("\0\x0f\xa5\xff", 4));
  EXPECT_EQ(from_hex(""), "");
  for (const std::string_view text : {"0", "0g", " 0", "0x", "-1", "00 "})
    EXPECT_EQ(from_hex(text), std::nullopt) << text;
}

TEST(RandomHex, HasSoManyDigitsAndNeverTheSame) {
  std::set<std::string> seen;
  for (int i = 0; i < 100; ++i) {
    const std::string digits = random_hex(31);
    EXPECT_EQ(digits.size(), 31U);
    EXPECT_EQ(digits.find_first_not_of("0123456789abcdef"), std::string::npos);
    seen.insert(digits);
  }
  EXPECT_EQ(seen.size(), 100U);
}

}  // namespace
}  // namespace gpuward
