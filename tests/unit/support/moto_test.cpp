// The AWS of the tests refuses the requests that AWS refuses.
#include "tests/support/moto.h"

#include <gtest/gtest.h>

#include "core/runtime/files.h"
#include "tests/places.inc"
#include "tests/support/environment.h"
#include "tests/support/require.h"
#include "tests/support/temp_dir.h"

namespace gpuward::support {
namespace {

class MotoTest : public ::testing::Test {
 protected:
  void SetUp() override {
    GPUWARD_REQUIRE_IN(kAll, Moto::why_unavailable());
    auto started = Moto::start();
    ASSERT_TRUE(started) << started.error().message;
    moto = *std::move(started);
  }
  Result<aws::XmlElement> look(std::map<std::string, std::string> variables) {
    aws::AwsClient client(http, {.variables = std::move(variables)}, clock);
    return client.query(
        {.service = aws::kEc2, .action = "DescribeInstances", .version = "2016-11-15"});
  }

  SystemClock clock;
  http::CurlClient http;
  std::unique_ptr<Moto> moto;
};

TEST_F(MotoTest, ChecksKeysSignaturesAndRights) {
  const auto user = moto->add_user(
      "looker",
      R"({"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"ec2:DescribeInstances",)"
      R"("Resource":"*"}]})");
  ASSERT_TRUE(user) << user.error().message;
  EXPECT_TRUE(look(*user));

  auto wrong = *user;
  wrong["AWS_SECRET_ACCESS_KEY"] = "wrong";
  EXPECT_EQ(look(wrong).error().kind, ErrorKind::kUnauthenticated);
  wrong["AWS_ACCESS_KEY_ID"] = "AKIANOBODY";
  EXPECT_EQ(look(wrong).error().kind, ErrorKind::kUnauthenticated);

  const auto nobody = moto->add_user(
      "nobody", R"({"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"s3:Get*",)"
                R"("Resource":"*"}]})");
  ASSERT_TRUE(nobody) << nobody.error().message;
  EXPECT_EQ(look(*nobody).error().kind, ErrorKind::kForbidden);
}

TEST(Moto, ThatIsNotThereSaysHowToGetIt) {
  const TempDir empty;
  const Environment where("GPUWARD_CACHE", empty.path().string());
  EXPECT_EQ(Moto::why_unavailable(), "no moto in the cache: `./dev deps --all` installs it");
}

TEST(Moto, IsTheVersionThatIsInstalled) {
  const auto wanted =
      read_file(std::filesystem::path(GPUWARD_SOURCE_DIR) / "tests/moto/requirements.txt");
  ASSERT_TRUE(wanted) << wanted.error().message;
  EXPECT_NE(wanted->find("\nmoto[server]==5.2.5 --hash="), std::string::npos);
}

}  // namespace
}  // namespace gpuward::support
