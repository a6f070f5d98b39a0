#include "core/runtime/base64.h"

#include <gtest/gtest.h>

#include <array>
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

}  // namespace
}  // namespace gpuward
