#include "core/runtime/text.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace gpuward {
namespace {

using namespace std::string_view_literals;

TEST(ToValidUtf8, LeavesValidTextAlone) {
  EXPECT_EQ(to_valid_utf8("GPU 0\t\u00e9 \u20ac \U0001F525"), "GPU 0\t\u00e9 \u20ac \U0001F525");
}

TEST(ToValidUtf8, ReplacesEveryByteThatIsNoCharacter) {
  EXPECT_EQ(to_valid_utf8("a\xff\xfe z"), "a\uFFFD\uFFFD z");
  EXPECT_EQ(to_valid_utf8("\xc0\xaf"), "\uFFFD\uFFFD");            // overlong
  EXPECT_EQ(to_valid_utf8("\xed\xa0\x80"), "\uFFFD\uFFFD\uFFFD");  // surrogate
  EXPECT_EQ(to_valid_utf8("\xe2\x82"), "\uFFFD\uFFFD");            // cut short
}

TEST(ToValidUtf8, TurnsControlsIntoSpacesSoThatNoLineIsForged) {
  EXPECT_EQ(to_valid_utf8("a\nb\rc\x1b[31m\x7f\0z"sv), "a b c [31m  z");
  EXPECT_EQ(to_valid_utf8("a\u0085b"), "a b");  // NEL, a line end to some readers
}

TEST(ToValidUtf8, CutsAtTheBorderOfACharacter) {
  EXPECT_EQ(to_valid_utf8("ab\u20ac", 4), "ab");
  EXPECT_EQ(to_valid_utf8("ab\u20ac", 5), "ab\u20ac");
  EXPECT_EQ(to_valid_utf8("\xff", 2), "");
}

TEST(EscapedLine, IsOneLineThatSteersNoTerminal) {
  EXPECT_EQ(escaped_line("a\n\r\tb\033]0;x\a\x7f\0"sv), R"(a\n\r\tb\u001b]0;x\u0007\u007f\u0000)");
  EXPECT_EQ(escaped_line("\u0080\u009b31m\u009f\u00a0"), "\\u0080\\u009b31m\\u009f\u00a0");
  EXPECT_EQ(escaped_line("\x9b[m"), "\uFFFD[m");  // CSI to a terminal without UTF-8
  EXPECT_EQ(escaped_line("a\\\"b \u00e9 \u20ac \U0001F525"), "a\\\"b \u00e9 \u20ac \U0001F525");
}

// Each of these reorders the text, hides in it, or ends a line for some readers.
constexpr std::string_view kFormatCharacters[] = {
    "\u00ad", "\u061c", "\u180e", "\u200b", "\u200e", "\u200f", "\u2028", "\u2029",
    "\u202a", "\u202b", "\u202d", "\u202e", "\u2060", "\u2066", "\u2069", "\ufeff"};

TEST(ToValidUtf8, TurnsFormatCharactersIntoSpaces) {
  for (const std::string_view character : kFormatCharacters)
    EXPECT_EQ(to_valid_utf8(std::string("gpu-7").append(character).append("8")), "gpu-7 8");
}

TEST(EscapedLine, ShowsFormatCharacters) {
  EXPECT_EQ(escaped_line("gpu-\u202e7\u2066x\u2069"), "gpu-\\u202e7\\u2066x\\u2069");
  EXPECT_EQ(escaped_line("\u00ad\u061c\u2028\ufeff"), "\\u00ad\\u061c\\u2028\\ufeff");
  EXPECT_EQ(escaped_lines("a\n\u202eb\n"), "a\n\\u202eb\n");
  // Their neighbours, which are visible.
  EXPECT_EQ(escaped_line("\u00ac\u00ae\u2010\u2027\u202f\u2070\u05d0\u0627"),
            "\u00ac\u00ae\u2010\u2027\u202f\u2070\u05d0\u0627");
}

TEST(EscapedLines, KeepsTheLayout) {
  EXPECT_EQ(escaped_lines("a\tb\n\n\033[2Jc\r\n"), "a\tb\n\n\\u001b[2Jc\\r\n");
  EXPECT_EQ(escaped_lines(""), "");
}

TEST(Utf8, IsValidUpToTheLastCodePointOnly) {
  EXPECT_TRUE(is_valid_utf8("\xf4\x8f\xbf\xbf"));
  EXPECT_FALSE(is_valid_utf8("\xf4\x90\x80\x80"));
  EXPECT_FALSE(is_valid_utf8("\x80"));
  EXPECT_TRUE(is_valid_utf8(""));
}

TEST(ParseInteger, TakesTheWholeTextOrNothing) {
  EXPECT_EQ(parse_integer<int>("42"), 42);
  EXPECT_EQ(parse_integer<int>("-42"), -42);
  for (const std::string_view text : {"", " 42", "42 ", "4x", "+4", "0x10", "4.0"}) {
    EXPECT_EQ(parse_integer<int>(text), std::nullopt) << text;
  }
}

TEST(ParseInteger, RefusesWhatDoesNotFit) {
  EXPECT_EQ(parse_integer<std::uint8_t>("255"), 255);
  EXPECT_EQ(parse_integer<std::uint8_t>("256"), std::nullopt);
  EXPECT_EQ(parse_integer<unsigned>("-1"), std::nullopt);
}

TEST(ListFirst, SaysHowManyAreNotNamed) {
  const std::vector<std::string> names = {"a", "b"};
  EXPECT_EQ(list_first(names, 2), "a, b");
  EXPECT_EQ(list_first(names, 5), "a, b and 3 more");
  EXPECT_EQ(list_first({}, 0), "");
}

TEST(EnumeratorOf, IsThePlaceOfTheWord) {
  enum class Answer { kYes, kNo };
  constexpr std::array<std::string_view, 2> kWords = {"yes", "no"};
  EXPECT_EQ(enumerator_of<Answer>(kWords, "no"), Answer::kNo);
  for (const std::string_view other : {"", "n", "nope", "No"})
    EXPECT_EQ(enumerator_of<Answer>(kWords, other), std::nullopt) << other;
}

TEST(Trim, RemovesBlanksAndLineEndsAround) {
  EXPECT_EQ(trim(" \t token \r\n"), "token");
  EXPECT_EQ(trim("a b"), "a b");
  EXPECT_EQ(trim(" \n "), "");
  EXPECT_EQ(trim(""), "");
}

}  // namespace
}  // namespace gpuward
