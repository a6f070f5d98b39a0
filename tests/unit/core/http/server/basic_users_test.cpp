#include "core/http/server/basic_users.h"

#include <crypt.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/cpu_time.h"
#include "tests/support/temp_dir.h"

namespace gpuward::http {
namespace {

// crypt(3) itself makes the hashes, so that the test does not depend on a tool.
std::string hash_of(const std::string& password, const char* prefix = "$2b$",
                    unsigned long cost = 4) {
  crypt_data data{};
  const char* setting = crypt_gensalt_rn(prefix, cost, nullptr, 0, data.output, sizeof data.output);
  const std::string copy = setting == nullptr ? "" : setting;
  crypt_data scratch{};
  return crypt_r(password.c_str(), copy.c_str(), &scratch);
}

std::unique_ptr<BasicUsers> load_users(const std::string& file, std::string* problem = nullptr) {
  auto users = BasicUsers::load(file, [problem](const std::string& text) {
    if (problem != nullptr) *problem = text;
  });
  EXPECT_TRUE(users) << users.error().message;
  return std::move(*users);
}

bool is_right(BasicUsers& users, const std::string& user, const std::string& password) {
  return users.verify(user, password, "127.0.0.1") == PasswordOutcome::kRight;
}

TEST(BasicUsers, KnowsTheHashesOfCrypt) {
  const support::TempDir folder;
  const std::string content = "bcrypt:" + hash_of("one") +
                              "\n# comment\nyescrypt:" + hash_of("two", "$y$", 1) +
                              "\nsha512:" + hash_of("three", "$6$", 1000);
  const auto users = load_users(folder.write("users", content));
  EXPECT_TRUE(is_right(*users, "bcrypt", "one"));
  EXPECT_TRUE(is_right(*users, "yescrypt", "two"));
  EXPECT_TRUE(is_right(*users, "sha512", "three"));
}

TEST(BasicUsers, RefusesWrongPasswordsAndUnknownUsers) {
  const support::TempDir folder;
  const auto users =
      load_users(folder.write("users", "alice:" + hash_of("secret") + "\nbob:" + hash_of("b")));
  EXPECT_FALSE(is_right(*users, "alice", "Secret"));
  EXPECT_FALSE(is_right(*users, "alice", ""));
  EXPECT_FALSE(is_right(*users, "bob", "secret"));
  EXPECT_FALSE(is_right(*users, "carol", "secret"));
  EXPECT_FALSE(is_right(*users, "", "secret"));
}

TEST(BasicUsers, RefusesTheFirstUsersPasswordForAnUnknownUserAgainAndAgain) {
  const support::TempDir folder;
  const auto users = load_users(folder.write("users", "alice:" + hash_of("secret")));
  EXPECT_TRUE(is_right(*users, "alice", "secret"));
  EXPECT_FALSE(is_right(*users, "mallory", "secret"));
  EXPECT_FALSE(is_right(*users, "mallory", "secret"));
}

TEST(BasicUsers, RemembersAVerifiedPassword) {
  const support::TempDir folder;
  const auto users = load_users(folder.write("users", "alice:" + hash_of("secret", "$2b$", 10)));
  const auto verify = [&] { EXPECT_TRUE(is_right(*users, "alice", "secret")); };
  const auto first = support::cpu_time_of(verify);
  const auto again = support::cpu_time_of([&] {
    for (int i = 0; i < 20; ++i) verify();
  });
  EXPECT_LT(again / 20, first / 5);
}

// An Alertmanager beside an attacker who guesses. A unit test cannot cover how long it waits.
TEST(BasicUsers, ARememberedPasswordIsRightBesideGuesses) {
  const support::TempDir folder;
  const auto users = load_users(folder.write("users", "alice:" + hash_of("secret", "$2b$", 8)));
  ASSERT_TRUE(is_right(*users, "alice", "secret"));
  constexpr int kGuesses = 12;
  std::atomic<int> begun = 0, guessed = 0;
  std::vector<std::jthread> guessers;
  for (int i = 0; i < kGuesses; ++i) {
    guessers.emplace_back([&] {
      ++begun;
      EXPECT_FALSE(is_right(*users, "alice", "guess"));
      ++guessed;
    });
  }
  while (begun < kGuesses) std::this_thread::yield();

  while (guessed < kGuesses) EXPECT_TRUE(is_right(*users, "alice", "secret"));
}

TEST(BasicUsers, ForgetsWhatItRememberedWhenTheFileChanges) {
  const support::TempDir folder;
  const auto users = load_users(folder.write("users", "alice:" + hash_of("secret")));
  ASSERT_TRUE(is_right(*users, "alice", "secret"));
  folder.write("users", "alice:" + hash_of("changed") + "\n");
  EXPECT_FALSE(is_right(*users, "alice", "secret"));
  EXPECT_TRUE(is_right(*users, "alice", "changed"));
}

TEST(BasicUsers, KeepsTheOldUsersWhenTheFileTurnsBadAndSaysSo) {
  const support::TempDir folder;
  std::string problem;
  const auto users = load_users(folder.write("users", "alice:" + hash_of("secret")), &problem);
  folder.write("users", "alice:plaintext-password");
  EXPECT_TRUE(is_right(*users, "alice", "secret"));
  EXPECT_NE(problem.find("users:1"), std::string::npos) << problem;
  EXPECT_EQ(problem.find("plaintext"), std::string::npos) << "tells what stands in the file";
}

// The file looks unchanged at the second read, as after a read that failed for want of a
// descriptor.
TEST(BasicUsers, ReadsAFileAgainThatCouldNotBeRead) {
  const support::TempDir folder;
  const std::string file = folder.write("users", "alice:" + hash_of("secret"));
  const auto users = load_users(file);
  const std::string changed = "alice:" + hash_of("changed") + "\n";
  folder.write("users", std::string(changed.size(), ' '));
  EXPECT_TRUE(is_right(*users, "alice", "secret"));
  const auto when = std::filesystem::last_write_time(file);
  folder.write("users", changed);
  std::filesystem::last_write_time(file, when);
  EXPECT_FALSE(is_right(*users, "alice", "secret"));
  EXPECT_TRUE(is_right(*users, "alice", "changed"));
}

TEST(BasicUsers, RefusesWeakAndUnknownHashesAtTheStart) {
  const support::TempDir folder;
  for (const char* entry : {"alice:plaintext", "alice:$1$salt$hash", "alice:", ":x", "alice", ""}) {
    EXPECT_FALSE(BasicUsers::load(folder.write("users", entry), {})) << entry;
  }
  const std::string twice = "alice:" + hash_of("a") + "\nalice:" + hash_of("b");
  EXPECT_FALSE(BasicUsers::load(folder.write("users", twice), {}));
}

}  // namespace
}  // namespace gpuward::http
