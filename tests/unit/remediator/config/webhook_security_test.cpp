#include "remediator/config/webhook_security.h"

#include <gmock/gmock.h>

#include "tests/support/temp_dir.h"

namespace gpuward::remediator {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

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
  const auto security = load_webhook_security({.bearer_token_files = {"/t"}, .insecure = true});

  ASSERT_TRUE(security.has_value());
  EXPECT_EQ(security->access, http::Access::kAuthenticated);
}

TEST(WebhookSecurity, AddsTheTokenFilesOfTheFlagsToThoseOfTheFile) {
  const support::TempDir folder;
  const auto security = load_webhook_security(
      {.config_file = folder.write("web.yaml", "auth: {bearer_token_files: [/t1]}\n"),
       .bearer_token_files = {"/t2"}});

  ASSERT_TRUE(security.has_value());
  EXPECT_THAT(security->web.auth.bearer_token_files, ElementsAre("/t1", "/t2"));
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
