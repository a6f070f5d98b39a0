// Attacks of a YAML file on its reader: bombs, references, bytes that yaml-cpp misreads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "core/runtime/yaml.h"

namespace gpuward {
namespace {

using ::testing::HasSubstr;

Error error_of(std::string_view text) {
  const auto file = YamlFile::parse(text, "c.yaml");
  return file ? Error{ErrorKind::kInternal, "accepted", {}} : file.error();
}

std::string repeated(std::string_view unit, std::size_t bytes) {
  std::string text;
  while (text.size() + unit.size() <= bytes) text += unit;
  return text;
}

TEST(HostileYaml, IsRefusedOverOneMebibyte) {
  EXPECT_EQ(error_of(std::string((1U << 20U) + 1, '#')).kind, ErrorKind::kTooLarge);
}

TEST(HostileYaml, CannotNestDeeply) {
  EXPECT_THAT(error_of("a: " + std::string(40, '[') + std::string(40, ']')).message,
              HasSubstr("nested deeper than 32"));
  for (const std::string_view unit : {"[", "{", "{a: ", "- ", "? "}) {
    EXPECT_EQ(error_of("a: " + repeated(unit, 1'000'000)).kind, ErrorKind::kInvalid) << unit;
    EXPECT_EQ(error_of(repeated(unit, 1'000'000)).kind, ErrorKind::kInvalid) << unit;
  }
}

TEST(HostileYaml, MayNestAsDeepAsTheCap) {
  EXPECT_EQ(error_of("a: " + std::string(31, '[') + std::string(31, ']')).message, "accepted");
}

TEST(HostileYaml, CannotMultiplyItselfByAliases) {
  EXPECT_THAT(error_of("a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n").message,
              HasSubstr("c.yaml:1:4: anchors and aliases are not supported"));
  EXPECT_EQ(error_of("a: *nothing\n").kind, ErrorKind::kInvalid);
}

TEST(HostileYaml, CannotCarryTagsOrFurtherDocuments) {
  EXPECT_THAT(error_of("a: !!binary aGk=\n").message, HasSubstr("tags are not supported"));
  EXPECT_THAT(error_of("a: !custom [x]\n").message, HasSubstr("tags are not supported"));
  EXPECT_THAT(error_of("a: 1\n---\nb: 2\n").message, HasSubstr("more than one document"));
}

TEST(HostileYaml, CannotHaveKeysThatAreNoWords) {
  for (const std::string_view text :
       {"[a, b]: 1\n", "{a: b}: 1\n", "? [a]\n: 1\n", "~: 1\n", ": 1\n"}) {
    EXPECT_EQ(error_of(text).kind, ErrorKind::kInvalid) << text;
  }
}

TEST(HostileYaml, CannotHideItsEndBehindAByteThatYamlCppTakesForTheEnd) {
  EXPECT_THAT(error_of("mode: observe\n\x04\nmode: full\n").message,
              HasSubstr("c.yaml:2: contains a control character"));
  using namespace std::string_view_literals;
  EXPECT_EQ(error_of("a: 1\n\0b: 2\n"sv).kind, ErrorKind::kInvalid);
}

TEST(HostileYaml, MustBeUtf8) {
  EXPECT_THAT(error_of("a: \xff\n").message, HasSubstr("not UTF-8"));
  EXPECT_THAT(error_of("\xff\xfe\x61\x3a").message, HasSubstr("not UTF-8"));
}

TEST(HostileYaml, NeverCrashesTheParserHoweverItIsMangled) {
  constexpr std::array<std::string_view, 3> kSeeds{
      "a: 1\nb: [x, y]\nc:\n  d: {e: f, g: [1,2]}\n  h: |\n    text\n",
      "%YAML 1.2\n---\na: &b c\nd: *b\n...\n---\nq: !t 1\n",
      "k: >-\n  a\n\n  b\nl: 'x''y'\n? y\n: z\n- m: ~\n"};
  constexpr std::string_view kBytes = "a:-? \n\t[]{},&*!|>'\"%@`#0<~.=\\";
  std::mt19937 random(20261121);
  for (int round = 0; round < 20'000; ++round) {
    std::string text(kSeeds[random() % kSeeds.size()]);
    for (std::size_t edits = random() % 10; edits > 0; --edits) {
      const std::size_t at = random() % text.size();
      if (random() % 3 == 0 && text.size() > 4) {
        text.erase(at, 1 + random() % 3);
      } else {
        text.insert(at, 1, kBytes[random() % kBytes.size()]);
      }
    }
    const auto file = YamlFile::parse(text, "c.yaml");
    if (file) static_cast<void>(file->finish());
  }
}

}  // namespace
}  // namespace gpuward
