#include "core/http/server/listen_address.h"

#include <gtest/gtest.h>

namespace gpuward::http {
namespace {

TEST(ListenAddress, ReadsWhatPeopleWrite) {
  EXPECT_EQ(parse_listen_address(":10980")->port, 10980);
  EXPECT_EQ(parse_listen_address(":10980")->host, "");
  EXPECT_EQ(parse_listen_address("127.0.0.1:0")->host, "127.0.0.1");
  EXPECT_EQ(parse_listen_address("[::1]:80")->host, "::1");
  EXPECT_TRUE(parse_listen_address("[::1]:80")->is_ipv6);
  EXPECT_EQ(parse_listen_address("localhost:80")->host, "127.0.0.1");
}

TEST(ListenAddress, RefusesTheRestAndSaysWhatIsAllowed) {
  for (const char* text :
       {"", "10980", ":", ":http", ":65536", ":-1", "host.example:80", "::1:80", "[::1]", "[]:80",
        "[127.0.0.1]:80", "127.0.0.1:80s", "127.0.0.1:80,:81", "1.2.3:80", ":80r", "+80"}) {
    const auto address = parse_listen_address(text);
    ASSERT_FALSE(address) << text;
    EXPECT_EQ(address.error().kind, ErrorKind::kInvalid);
    EXPECT_NE(address.error().message.find("ADDRESS:PORT"), std::string::npos);
  }
}

}  // namespace
}  // namespace gpuward::http
