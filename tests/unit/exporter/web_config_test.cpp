#include "exporter/web_config.h"

#include <gtest/gtest.h>

#include "tests/support/temp_dir.h"

namespace gpuward::exporter {
namespace {

TEST(WebConfig, IsOpenPlainHttpWithoutAFile) {
  const auto config = load_web_config({});

  ASSERT_TRUE(config.has_value());
  EXPECT_EQ(config->access(), http::Access::kOpen);
  EXPECT_TRUE(config->tls.certificate_file.empty());
}

TEST(WebConfig, ReadsTlsAndCredentials) {
  const support::TempDir folder;
  const auto config = load_web_config(
      folder.write("web.yaml",
                   "tls: {certificate_file: /c, key_file: /k, client_ca_file: /a}\n"
                   "auth: {bearer_token_files: [/t1, /t2], basic_users_file: /u}\n"));

  ASSERT_TRUE(config.has_value()) << config.error().message;
  EXPECT_EQ(config->tls.client_ca_file, "/a");
  EXPECT_EQ(config->auth.bearer_token_files.size(), 2U);
  EXPECT_EQ(config->access(), http::Access::kAuthenticated);
}

TEST(WebConfig, RefusesHalfATlsConfiguration) {
  const support::TempDir folder;
  for (const char* yaml : {"tls: {certificate_file: /c}\n", "tls: {key_file: /k}\n",
                           "tls: {client_ca_file: /a}\n", "tlss: {}\n"}) {
    EXPECT_FALSE(load_web_config(folder.write("web.yaml", yaml)).has_value()) << yaml;
  }
}

}  // namespace
}  // namespace gpuward::exporter
