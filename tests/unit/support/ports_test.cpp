#include "tests/support/ports.h"

#include <gtest/gtest.h>

#include <set>

namespace gpuward::support {
namespace {

TEST(FreePort, IsGivenOnceAndCanBeListenedOn) {
  std::set<int> given;
  for (int i = 0; i < 50; ++i) {
    const int port = free_port();
    EXPECT_TRUE(given.insert(port).second) << port;
    EXPECT_EQ(port_to_listen_on(port), port);
    EXPECT_FALSE(reserve_port(port)) << "another test could get it";
  }
}

}  // namespace
}  // namespace gpuward::support
