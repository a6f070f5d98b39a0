#include <gtest/gtest.h>

#include "core/kube/config.h"
#include "tests/fakes/fake_clock.h"
#include "tests/support/temp_dir.h"

namespace gpuward::kube {
namespace {

using std::chrono::seconds;

class TokenFileTest : public ::testing::Test {
 protected:
  std::unique_ptr<Credentials> make() {
    ClusterConfig config;
    config.token = "unused";
    config.token_file = folder.write("token", "one\n");
    return make_credentials(config, clock);
  }
  support::TempDir folder;
  fakes::FakeClock clock;
};

TEST_F(TokenFileTest, IsReadAgainAfterThirtySeconds) {
  const auto credentials = make();
  EXPECT_EQ(credentials->authorization(), "Bearer one");
  folder.write("token", "two");
  clock.advance(seconds(29));
  EXPECT_EQ(credentials->authorization(), "Bearer one");
  clock.advance(seconds(1));
  EXPECT_EQ(credentials->authorization(), "Bearer two");
}

TEST_F(TokenFileTest, IsReadAgainAfterARejection) {
  const auto credentials = make();
  EXPECT_EQ(credentials->authorization(), "Bearer one");
  folder.write("token", "two");
  credentials->reject("Bearer one");
  EXPECT_EQ(credentials->authorization(), "Bearer two");
}

TEST_F(TokenFileTest, ALateRejectionOfAnOldTokenChangesNothing) {
  const auto credentials = make();
  EXPECT_EQ(credentials->authorization(), "Bearer one");
  folder.write("token", "two");
  credentials->reject("Bearer older");
  EXPECT_EQ(credentials->authorization(), "Bearer one");
}

TEST_F(TokenFileTest, KeepsTheOldTokenIfTheFileCannotBeRead) {
  const auto credentials = make();
  EXPECT_EQ(credentials->authorization(), "Bearer one");
  for (const char* content : {"", "two\nlines", " \n"}) {
    folder.write("token", content);
    clock.advance(seconds(31));
    EXPECT_EQ(credentials->authorization(), "Bearer one") << content;
  }
  std::filesystem::remove(folder / "token");
  clock.advance(seconds(31));
  EXPECT_EQ(credentials->authorization(), "Bearer one");
}

TEST_F(TokenFileTest, IsAnErrorIfThereHasNeverBeenOne) {
  const auto credentials = make();
  std::filesystem::remove(folder / "token");
  EXPECT_FALSE(credentials->authorization());
  folder.write("token", "late");
  EXPECT_EQ(credentials->authorization(), "Bearer late");
}

TEST(FixedCredentials, AreATokenAPasswordOrNothing) {
  fakes::FakeClock clock;
  ClusterConfig config;
  EXPECT_EQ(make_credentials(config, clock)->authorization(), "");
  config.username = "a";
  config.password = "b";
  EXPECT_EQ(make_credentials(config, clock)->authorization(), "Basic YTpi");
  config.token = "t";
  EXPECT_EQ(make_credentials(config, clock)->authorization(), "Bearer t");
}

}  // namespace
}  // namespace gpuward::kube
