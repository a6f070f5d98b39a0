#include "exporter/host/boot.h"

#include <gtest/gtest.h>

#include "tests/support/host_tree.h"

namespace gpuward::exporter {
namespace {

TEST(Boot, HasAnIdentifierATimeAndAnAge) {
  const support::HostTree node;
  const Boot boot = read_boot(node.paths());
  EXPECT_EQ(boot.id, "3f1a6d0c-2b54-4d47-9a1e-6f0f6f1c2d3e");
  EXPECT_EQ(boot.time, std::chrono::system_clock::time_point(std::chrono::seconds(1'767'222'000)));
  EXPECT_EQ(boot.uptime, std::chrono::milliseconds(3'600'250));
}

TEST(Boot, SaysNothingIfProcSaysNothing) {
  support::HostTree node;
  node.remove("proc/stat").remove("proc/uptime").remove("proc/sys");
  const Boot boot = read_boot(node.paths());
  EXPECT_EQ(boot.id, "");
  EXPECT_FALSE(boot.time);
  EXPECT_FALSE(boot.uptime);
}

TEST(Boot, TakesNoNumberForATime) {
  support::HostTree node;
  for (const char* const text : {"nan 1\n", "-5 1\n", "inf 1\n", "1e300 1\n", "soon\n", "\n"}) {
    EXPECT_FALSE(read_boot(node.write("proc/uptime", text).paths()).uptime) << text;
  }
  for (const char* const text : {"cpu 1\nbtime \n", "cpu 1\nbtime -1\n", "cpu 1\nbtime 1e9\n"}) {
    EXPECT_FALSE(read_boot(node.write("proc/stat", text).paths()).time) << text;
  }
}

TEST(Boot, IsKnownOnThisMachine) {
  const Boot boot = read_boot(HostPaths{});
  EXPECT_EQ(boot.id.size(), 36U);
  ASSERT_TRUE(boot.uptime);
  EXPECT_GT(boot.uptime->count(), 0);
}

}  // namespace
}  // namespace gpuward::exporter
