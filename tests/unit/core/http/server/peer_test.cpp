#include "core/http/server/peer.h"

#include <gtest/gtest.h>

namespace gpuward::http {
namespace {

TEST(PeerKey, IsAWholeAddressOfIpv4) {
  EXPECT_EQ(peer_key("192.0.2.7"), "192.0.2.7");
  EXPECT_EQ(peer_key("::ffff:192.0.2.7"), "192.0.2.7");
}

TEST(PeerKey, IsANetworkOfIpv6) {
  EXPECT_EQ(peer_key("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::");
  EXPECT_EQ(peer_key("2001:db8:1:2::9"), peer_key("2001:db8:1:2:ffff::"));
  EXPECT_NE(peer_key("2001:db8:1:2::9"), peer_key("2001:db8:1:3::9"));
  EXPECT_EQ(peer_key("fe80::1%eth0"), "fe80::");
}

TEST(PeerKey, IsTheTextOfAnythingElse) {
  EXPECT_EQ(peer_key(""), "");
  EXPECT_EQ(peer_key("prometheus"), "prometheus");
}

}  // namespace
}  // namespace gpuward::http
