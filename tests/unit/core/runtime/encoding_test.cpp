#include "core/runtime/encoding.h"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <utility>

namespace gpuward {
namespace {

// RFC 4648, section 10.
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kVectors{
    {{"", ""},
     {"f", "Zg=="},
     {"fo", "Zm8="},
     {"foo", "Zm9v"},
     {"foob", "Zm9vYg=="},
     {"fooba", "Zm9vYmE="},
     {"foobar", "Zm9vYmFy"}}};

TEST(Base64, AgreesWithTheVectorsOfTheRfc) {
  for (const auto& [bytes, text] : kVectors) {
    EXPECT_EQ(encode_base64(bytes), text);
    EXPECT_EQ(decode_base64(text), bytes);
  }
}

TEST(Base64, CarriesEveryByte) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  EXPECT_EQ(decode_base64(encode_base64(bytes)), bytes);
}

TEST(Base64, SkipsTheWhiteSpaceOfFoldedLines) {
  EXPECT_EQ(decode_base64("Zm9v\r\n  YmFy\n"), "foobar");
}

TEST(Base64, RefusesWhatIsNotBase64) {
  for (const std::string_view text : {"Z", "Zg", "Zg=", "Zg===", "Zm9vZ", "Zg==Zg==", "=",
                                      "====", "Zm9v=", "Zm-v", "Zm9v!", "Z=g="}) {
    EXPECT_EQ(decode_base64(text), std::nullopt) << text;
  }
}

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
