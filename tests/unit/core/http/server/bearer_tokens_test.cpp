#include "core/http/server/bearer_tokens.h"

#include <gtest/gtest.h>

#include "tests/support/temp_dir.h"

namespace gpuward::http {
namespace {

constexpr const char* kFirst = "first-token-of-22-chars";
constexpr const char* kSecond = "second-token-of-23-char";

std::unique_ptr<BearerTokens> load(const std::vector<std::string>& files,
                                   std::string* problem = nullptr) {
  auto tokens = BearerTokens::load(files, [problem](const std::string& text) {
    if (problem != nullptr) *problem = text;
  });
  EXPECT_TRUE(tokens) << tokens.error().message;
  return std::move(*tokens);
}

std::string refusal_of(const std::vector<std::string>& files) {
  const auto tokens = BearerTokens::load(files, {});
  return tokens ? "accepted" : tokens.error().message;
}

TEST(BearerTokens, AcceptsEachLineOfEachFile) {
  const support::TempDir folder;
  const auto tokens = load({folder.write("a", std::string(kFirst) + "\n" + kSecond + "\n\n"),
                            folder.write("b", "third-token-of-22-char")});
  EXPECT_TRUE(tokens->contains(kFirst));
  EXPECT_TRUE(tokens->contains(kSecond));
  EXPECT_TRUE(tokens->contains("third-token-of-22-char"));
}

TEST(BearerTokens, RefusesEverythingElse) {
  const support::TempDir folder;
  const auto tokens = load({folder.write("a", kFirst)});
  EXPECT_FALSE(tokens->contains(""));
  EXPECT_FALSE(tokens->contains("first-token-of-22-char"));
  EXPECT_FALSE(tokens->contains(std::string(kFirst) + "x"));
  EXPECT_FALSE(tokens->contains("FIRST-TOKEN-OF-22-CHARS"));
}

TEST(BearerTokens, FollowsARotationOfTheFile) {
  const support::TempDir folder;
  const auto tokens = load({folder.write("a", kFirst)});
  folder.write("a", std::string(kFirst) + "\n" + kSecond);
  EXPECT_TRUE(tokens->contains(kSecond));
  EXPECT_TRUE(tokens->contains(kFirst));
  folder.write("a", std::string("\n\n") + kSecond);
  EXPECT_TRUE(tokens->contains(kSecond));
  EXPECT_FALSE(tokens->contains(kFirst));
}

TEST(BearerTokens, KeepsTheOldTokensWhenTheFileTurnsBadAndSaysSo) {
  const support::TempDir folder;
  std::string problem;
  const auto tokens = load({folder.write("a", kFirst)}, &problem);
  folder.write("a", "short");
  EXPECT_TRUE(tokens->contains(kFirst));
  EXPECT_FALSE(tokens->contains("short"));
  EXPECT_NE(problem.find("a:1"), std::string::npos) << problem;
  EXPECT_EQ(problem.find("short"), std::string::npos) << "tells the token";
}

TEST(BearerTokens, ReportsABrokenFileOnceForManyRequests) {
  const support::TempDir folder;
  const std::string file = folder.write("a", kFirst);
  int problems = 0;
  auto tokens = BearerTokens::load({file}, [&](const std::string&) { ++problems; });
  ASSERT_TRUE(tokens);
  folder.write("a", "short");
  for (int request = 0; request < 100; ++request) EXPECT_TRUE((*tokens)->contains(kFirst));
  EXPECT_EQ(problems, 1);
  folder.write("a", kSecond);
  EXPECT_TRUE((*tokens)->contains(kSecond));
  folder.write("a", "short");
  EXPECT_TRUE((*tokens)->contains(kSecond));
  EXPECT_EQ(problems, 2) << "the file was good in between";
}

// The file looks unchanged at the second read, as after a read that failed for want of a
// descriptor.
TEST(BearerTokens, ReadsAFileAgainThatCouldNotBeRead) {
  const support::TempDir folder;
  const std::string file = folder.write("a", kFirst);
  const auto tokens = load({file});
  folder.write("a", std::string(std::string_view(kSecond).size(), ' '));
  EXPECT_TRUE(tokens->contains(kFirst));
  const auto when = std::filesystem::last_write_time(file);
  folder.write("a", kSecond);
  std::filesystem::last_write_time(file, when);
  EXPECT_FALSE(tokens->contains(kFirst));
  EXPECT_TRUE(tokens->contains(kSecond));
}

TEST(BearerTokens, RefusesUnusableFilesAtTheStart) {
  const support::TempDir folder;
  EXPECT_NE(refusal_of({folder.write("short", "123456789012345")}).find("16"), std::string::npos);
  EXPECT_NE(refusal_of({folder.write("empty", "\n \n")}).find("no token"), std::string::npos);
  EXPECT_NE(refusal_of({folder.write("blank", "a token with blanks")}).find("ASCII"),
            std::string::npos);
  EXPECT_NE(refusal_of({(folder / "missing").string()}).find("missing"), std::string::npos);
}

TEST(BearerTokens, NamesTheLine) {
  const support::TempDir folder;
  const std::string file = folder.write("a", std::string(kFirst) + "\nx\n");
  EXPECT_NE(refusal_of({file}).find(file + ":2"), std::string::npos);
}

}  // namespace
}  // namespace gpuward::http
