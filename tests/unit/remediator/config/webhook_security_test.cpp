#include "remediator/config/webhook_security.h"

#include <gmock/gmock.h>

#include "tests/support/temp_dir.h"

namespace gpuward::remediator {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kToken = "sesame-open-0123456789\n";

TEST(WebhookSecurity, RefusesAWebhookThatIsOpenByAccident) {
  const auto security = load_webhook_security({});

  ASSERT_FALSE(security.has_value());
  EXPECT_EQ(security.error().kind, ErrorKind::kInvalid);
  EXPECT_THAT(security.error().message, HasSubstr("--web.bearer-token-file"));
}

TEST(WebhookSecurity, IsOpenIfThatIsSaid) {
  const auto security = load_webhook_security({.insecure = true});

  ASSERT_TRUE(security.has_value());
  EXPECT_EQ(security->access, http::Access::kOpen);
}

TEST(WebhookSecurity, StaysClosedIfCredentialsAreGivenAndInsecureToo) {
  const support::TempDir folder;
  const auto security =
      load_webhook_security({.bearer_token_files = {folder.write("t", kToken)}, .insecure = true});

  ASSERT_TRUE(security.has_value());
  EXPECT_EQ(security->access, http::Access::kAuthenticated);
}

TEST(WebhookSecurity, AddsTheTokenFilesOfTheFlagsToThoseOfTheFile) {
  const support::TempDir folder;
  const auto security = load_webhook_security(
      {.config_file = folder.write("web.yaml", "auth: {bearer_token_files: [/t1]}\n"),
       .bearer_token_files = {folder.write("t2", kToken)}});

  ASSERT_TRUE(security.has_value()) << security.error().message;
  EXPECT_THAT(security->web.auth.bearer_token_files,
              ElementsAre("/t1", (folder.path() / "t2").string()));
}

TEST(WebhookSecurity, NamesTheFlagOfATokenFileThatIsNoGood) {
  const support::TempDir folder;
  for (const std::string& file : {std::string("/none"), folder.write("short", "abc\n").string()}) {
    const auto security = load_webhook_security({.bearer_token_files = {file}});
    ASSERT_FALSE(security);
    EXPECT_THAT(security.error().message, HasSubstr("--web.bearer-token-file: "));
    EXPECT_THAT(security.error().message, HasSubstr(file));
  }
}

TEST(WebhookSecurity, TakesAClientCertificateForACredential) {
  const support::TempDir folder;
  const auto security = load_webhook_security(
      {.config_file = folder.write(
           "web.yaml", "tls: {certificate_file: /c, key_file: /k, client_ca_file: /a}\n")});

  ASSERT_TRUE(security.has_value()) << security.error().message;
  EXPECT_EQ(security->access, http::Access::kAuthenticated);
}

}  // namespace
}  // namespace gpuward::remediator
