#include "core/http/syntax/plain_http.h"

#include <gmock/gmock.h>

namespace gpuward::http {
namespace {

TEST(PlainHttp, IsInTheClearToOtherMachinesOnly) {
  for (const char* url :
       {"http://prometheus:9090", "http://10.0.0.7/x", "HTTP://h", "http://[::2]/",
        "http://127.evil.example/", "http://localhost@evil.example/", "http://127.0.0.1:x@h/",
        "http://localhost\\@evil.example/"}) {
    EXPECT_TRUE(is_sent_in_the_clear(url)) << url;
  }
  for (const char* url : {"https://prometheus:9090", "http://localhost:9090", "http://127.0.0.1/x",
                          "http://[::1]:80?x", "http://u:p@localhost/"}) {
    EXPECT_FALSE(is_sent_in_the_clear(url)) << url;
  }
}

TEST(PlainHttp, KnowsAUserOfAUrl) {
  EXPECT_TRUE(has_user("https://u:p@h/"));
  EXPECT_TRUE(has_user("http://u@h?x"));
  for (const char* url : {"https://h/a@b", "https://h?u@h", "https://h#@", "u@h", ""})
    EXPECT_FALSE(has_user(url)) << url;
}

TEST(PlainHttp, TakesCredentialsOnlyWithLeave) {
  const auto refused = check_credentials_for("http://u:hunter2@prometheus:9090/x",
                                             PlainHttp::kRefused, "--prometheus.leave");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kInvalid);
  EXPECT_EQ(refused.error().message,
            "credentials would be sent unencrypted to prometheus: use https://, or set "
            "--prometheus.leave to allow it");
  EXPECT_TRUE(check_credentials_for("http://prometheus", PlainHttp::kAllowed, ""));
  EXPECT_TRUE(check_credentials_for("https://prometheus", PlainHttp::kRefused, ""));
}

}  // namespace
}  // namespace gpuward::http
