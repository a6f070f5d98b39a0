// The time of a comparison must not reveal how much of a credential was right. A busy machine
// cannot measure time well enough, so the tests replace libcrypto's comparison by one that counts.
#include <gtest/gtest.h>
#include <openssl/crypto.h>

#include <atomic>
#include <cstddef>

#include "core/http/server/basic_users.h"
#include "core/http/server/bearer_tokens.h"
#include "core/runtime/digest.h"
#include "tests/support/temp_dir.h"

namespace {

// The number of bytes that were compared so far.
std::atomic<std::size_t>& compared_bytes() {
  static std::atomic<std::size_t> bytes = 0;
  return bytes;
}

}  // namespace

// Replaces libcrypto's function in the whole program.
extern "C" int CRYPTO_memcmp(const void* left, const void* right, std::size_t length) {
  compared_bytes() += length;
  const auto* a = static_cast<const volatile unsigned char*>(left);
  const auto* b = static_cast<const volatile unsigned char*>(right);
  unsigned difference = 0;
  for (std::size_t i = 0; i < length; ++i) difference |= static_cast<unsigned>(a[i] ^ b[i]);
  return static_cast<int>(difference);
}

namespace gpuward::http {
namespace {

std::size_t bytes_compared_for(BearerTokens& tokens, std::string_view token) {
  const std::size_t before = compared_bytes();
  (void)tokens.contains(token);
  return compared_bytes() - before;
}

TEST(ConstantTime, EveryTokenIsComparedWholeWhicheverOneIsShown) {
  const support::TempDir folder;
  const auto tokens = BearerTokens::load({folder.write("tokens",
                                                       "first-token-of-22-chars\n"
                                                       "second-token-of-23-char\n"
                                                       "third-token-of-22-chars\n")},
                                         {});
  ASSERT_TRUE(tokens) << tokens.error().message;
  constexpr std::size_t kAll = 3 * sizeof(Digest);
  for (const char* shown : {"first-token-of-22-chars", "second-token-of-23-char",
                            "third-token-of-22-chars", "first-token-of-22-charX", "x", ""}) {
    EXPECT_EQ(bytes_compared_for(**tokens, shown), kAll) << shown;
  }
}

// An unknown user costs a comparison too. Otherwise the time would reveal which users exist.
TEST(ConstantTime, APasswordIsComparedWholeAlsoForAnUnknownUser) {
  const support::TempDir folder;
  // "U*U" under bcrypt, from the test vectors of crypt_blowfish.
  const auto users = BasicUsers::load(
      folder.write("users", "alice:$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"),
      {});
  ASSERT_TRUE(users) << users.error().message;
  for (const char* user : {"alice", "mallory"}) {
    const std::size_t before = compared_bytes();
    EXPECT_EQ((*users)->verify(user, "wrong", "127.0.0.1"), PasswordOutcome::kWrong);
    EXPECT_EQ(compared_bytes() - before, sizeof(Digest)) << user;
  }
}

TEST(ConstantTime, ADifferenceInAnyByteIsSeen) {
  const Digest one = digest_of("a secret");
  EXPECT_TRUE(equal_in_constant_time(one, digest_of("a secret")));
  for (std::size_t i = 0; i < one.size(); ++i) {
    Digest other = one;
    other.at(i) ^= 1U;
    EXPECT_FALSE(equal_in_constant_time(one, other)) << "byte " << i;
  }
}

}  // namespace
}  // namespace gpuward::http
