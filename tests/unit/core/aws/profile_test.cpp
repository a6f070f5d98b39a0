#include "core/aws/profile.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/temp_dir.h"

namespace gpuward::aws {
namespace {

class ProfileTest : public ::testing::Test {
 protected:
  AwsEnvironment environment(std::map<std::string, std::string> more = {}) {
    more["HOME"] = folder.path().string();
    return {.variables = std::move(more)};
  }
  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(folder / ".aws");
    folder.write(name, text);
  }
  support::TempDir folder;
};

TEST(Profiles, AreSectionsOfKeysAndValues) {
  const auto sections = parse_profiles(
      "# comment\n[default]\nregion=eu-west-1\n\n[profile  gpu]\n; comment\n region = ignored\n"
      "aws_access_key_id = AKID \r\ns3 =\n  max = 1\n");
  ASSERT_TRUE(sections) << sections.error().message;
  EXPECT_EQ(sections->at("default").at("region"), "eu-west-1");
  EXPECT_EQ(sections->at("profile gpu").at("aws_access_key_id"), "AKID");
  EXPECT_FALSE(sections->at("profile gpu").contains("region"));
  EXPECT_FALSE(sections->at("profile gpu").contains("max"));
}

TEST(Profiles, AFaultNamesItsLineAndNeverItsText) {
  EXPECT_EQ(parse_profiles("[a]\nx=1\nSECRET\n").error().message,
            "line 3: expected [section] or key = value");
  EXPECT_EQ(parse_profiles("SECRET=1\n").error().message,
            "line 1: a key before the first [section]");
  EXPECT_EQ(parse_profiles("[a\n").error().message,
            "line 1: a section header without the closing ]");
}

TEST_F(ProfileTest, IsOfBothFilesAndTheCredentialsWin) {
  write(".aws/config", "[default]\nregion=eu-west-1\naws_access_key_id=OLD\n");
  write(".aws/credentials", "[default]\naws_access_key_id=NEW\n");
  const auto profile = read_profile(environment());
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_EQ(*profile, (Profile{{"region", "eu-west-1"}, {"aws_access_key_id", "NEW"}}));
}

TEST_F(ProfileTest, IsTheOneThatIsAskedForInTheFilesThatAreNamed) {
  const auto config = folder.write("c", "[profile gpu]\nregion=r1\n[default]\nregion=r2\n");
  const auto keys = folder.write("k", "[gpu]\naws_access_key_id=A\n");
  const auto profile = read_profile(environment({{"AWS_PROFILE", "gpu"},
                                                 {"AWS_CONFIG_FILE", config.string()},
                                                 {"AWS_SHARED_CREDENTIALS_FILE", keys.string()}}));
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_EQ(*profile, (Profile{{"region", "r1"}, {"aws_access_key_id", "A"}}));
}

TEST_F(ProfileTest, WithoutFilesThereIsAnEmptyOneUnlessItWasAskedFor) {
  EXPECT_EQ(read_profile(environment()), Profile{});
  EXPECT_EQ(read_profile({}), Profile{});
  const auto missing = read_profile(environment({{"AWS_PROFILE", "gpu"}}));
  ASSERT_FALSE(missing);
  EXPECT_EQ(
      missing.error().message,
      "AWS_PROFILE is gpu, but the AWS config and credentials files have no profile of that name");
}

}  // namespace
}  // namespace gpuward::aws
