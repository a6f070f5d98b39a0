#include "core/http/server/web_config.h"

#include <gmock/gmock.h>

#include "tests/support/temp_dir.h"

namespace gpuward::http {
namespace {

using ::testing::HasSubstr;

TEST(WebConfig, IsOpenPlainHttpWithoutAFile) {
  const auto config = load_web_config({});

  ASSERT_TRUE(config.has_value());
  EXPECT_FALSE(config->asks_for_credentials());
  EXPECT_TRUE(config->tls.certificate_file.empty());
}

TEST(WebConfig, ReadsTlsAndCredentials) {
  const support::TempDir folder;
  const auto config = load_web_config(
      folder.write("web.yaml",
                   "tls: {certificate_file: /c, key_file: /k, client_ca_file: /a}\n"
                   "auth: {bearer_token_files: [/t1, /t2], basic_users_file: /u}\n"));

  ASSERT_TRUE(config.has_value()) << config.error().message;
  EXPECT_EQ(config->tls.certificate_file, "/c");
  EXPECT_EQ(config->tls.key_file, "/k");
  EXPECT_EQ(config->tls.client_ca_file, "/a");
  EXPECT_EQ(config->auth.bearer_token_files.size(), 2U);
  EXPECT_EQ(config->auth.basic_users_file, "/u");
  EXPECT_TRUE(config->asks_for_credentials());
}

TEST(WebConfig, AsksForCredentialsIfOnlyOneKindIsConfigured) {
  const support::TempDir folder;
  for (const char* yaml :
       {"auth: {bearer_token_files: [/t]}\n", "auth: {basic_users_file: /u}\n"}) {
    const auto config = load_web_config(folder.write("web.yaml", yaml));
    ASSERT_TRUE(config.has_value()) << yaml;
    EXPECT_TRUE(config->asks_for_credentials()) << yaml;
  }
}

TEST(WebConfig, RefusesHalfATlsConfiguration) {
  const support::TempDir folder;
  for (const char* yaml :
       {"tls: {certificate_file: /c}\n", "tls: {key_file: /k}\n", "tls: {client_ca_file: /a}\n"}) {
    EXPECT_FALSE(load_web_config(folder.write("web.yaml", yaml)).has_value()) << yaml;
  }
}

TEST(WebConfig, NamesFileAndLineOfWhatIsWrong) {
  const support::TempDir folder;
  const auto path = folder.write("web.yaml", "auth:\n  basic_users_file: /u\n  bearer_tokens: 1\n");

  const auto config = load_web_config(path);

  ASSERT_FALSE(config.has_value());
  EXPECT_EQ(config.error().kind, ErrorKind::kInvalid);
  EXPECT_THAT(config.error().message, HasSubstr(path.string() + ":3"));
  EXPECT_THAT(config.error().message, HasSubstr("bearer_tokens"));
}

}  // namespace
}  // namespace gpuward::http
