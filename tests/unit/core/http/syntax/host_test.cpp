#include "core/http/syntax/host.h"

#include <gtest/gtest.h>

namespace gpuward::http {
namespace {

TEST(HostOf, HasNoPortNoBracketsAndSmallLetters) {
  EXPECT_EQ(host_of("GPU-7.Example.com.:10980"), "gpu-7.example.com");
  EXPECT_EQ(host_of("localhost"), "localhost");
  EXPECT_EQ(host_of("10.0.0.7:80"), "10.0.0.7");
  EXPECT_EQ(host_of("[::1]:10980"), "::1");
  EXPECT_EQ(host_of("[FD00::1]"), "fd00::1");
  EXPECT_EQ(host_of("h:"), "h");
}

TEST(HostOf, IsEmptyForAnythingElse) {
  for (const char* text : {"", ":80", "a b", "user@host", "a/b", "h:port", "h:80:80", "h:-1",
                           "h:65536", "[::1", "[gpu-7]", "[::1]x", "::1", "a\r\nb", "<b>"}) {
    EXPECT_EQ(host_of(text), "") << text;
  }
}

TEST(IsAddress, TellsAddressesFromNames) {
  for (const char* host : {"10.0.0.7", "127.0.0.1", "::1", "fd00::1"})
    EXPECT_TRUE(is_address(host)) << host;
  for (const char* host : {"", "localhost", "10.0.0.7.evil.example", "10.0.7", "0x7f.1", "1"})
    EXPECT_FALSE(is_address(host)) << host;
}

TEST(IsLoopback, IsNoNameThatOnlyBeginsLikeAnAddress) {
  for (const char* host : {"localhost", "127.0.0.1", "127.1.2.3", "::1"})
    EXPECT_TRUE(is_loopback(host)) << host;
  for (const char* host : {"", "127.evil.example", "127.0.0.1.evil.example", "localhost.example",
                           "x.localhost", "10.0.0.1", "::2", "0.0.0.0"}) {
    EXPECT_FALSE(is_loopback(host)) << host;
  }
}

}  // namespace
}  // namespace gpuward::http
