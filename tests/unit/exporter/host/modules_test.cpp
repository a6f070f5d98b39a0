#include "exporter/host/modules.h"

#include <gtest/gtest.h>

#include "tests/support/host_tree.h"

namespace gpuward::exporter {
namespace {

using std::chrono::hours;
using support::HostTree;
using Wall = std::chrono::system_clock::time_point;

TEST(Modules, AreThereWithTheirVersion) {
  HostTree node;
  node.with_nvidia_gpus(1);
  const auto module = read_module(node.paths(), "nvidia");
  ASSERT_TRUE(module);
  EXPECT_EQ(module->version, "570.133.20");
  EXPECT_EQ(module->state, Module::State::kLive);
  EXPECT_LE(module->seen_since, std::chrono::system_clock::now());
  EXPECT_GT(module->seen_since, std::chrono::system_clock::now() - hours(1));
}

TEST(Modules, AreAbsentIfTheyAreNotLoaded) {
  const HostTree node;
  EXPECT_FALSE(read_module(node.paths(), "nvidia"));
}

TEST(Modules, ThatAreBuiltInAreLiveWithoutAVersion) {
  HostTree node;
  node.write("sys/module/ib_core/parameters/send_queue_size", "128\n");
  const auto module = read_module(node.paths(), "ib_core");
  ASSERT_TRUE(module);
  EXPECT_EQ(module->version, "");
  EXPECT_EQ(module->state, Module::State::kLive);
}

TEST(Modules, SayThatTheyComeOrGo) {
  HostTree node;
  node.with_module("nvidia", "570.133.20", "going").with_module("efa", "2.13.0g", "coming");
  EXPECT_EQ(read_module(node.paths(), "nvidia")->state, Module::State::kGoing);
  EXPECT_EQ(read_module(node.paths(), "efa")->state, Module::State::kComing);
}

class DriverAgesTest : public ::testing::Test {
 protected:
  static Module module(std::uint64_t load, Wall seen) {
    return {"nvidia", "570.133.20", Module::State::kLive, load, seen};
  }
  Wall boot_{std::chrono::seconds(1'767'222'000)};
  DriverAges ages_;
};

// sysfs gives a folder a new time after the kernel has dropped its inode to free memory.
TEST_F(DriverAgesTest, KeepTheEarliestTimeOfOneLoad) {
  EXPECT_EQ(ages_.loaded_since(module(1, boot_ + hours(1)), boot_), boot_ + hours(1));
  EXPECT_EQ(ages_.loaded_since(module(1, boot_ + hours(9)), boot_), boot_ + hours(1));
}

TEST_F(DriverAgesTest, BeginAnewWhenTheDriverIsLoadedAgain) {
  EXPECT_EQ(ages_.loaded_since(module(1, boot_ + hours(1)), boot_), boot_ + hours(1));
  EXPECT_EQ(ages_.loaded_since(module(2, boot_ + hours(9)), boot_), boot_ + hours(9));
}

TEST_F(DriverAgesTest, AreNeverOlderThanTheBoot) {
  EXPECT_EQ(ages_.loaded_since(module(1, boot_ - hours(1)), boot_), boot_);
}

}  // namespace
}  // namespace gpuward::exporter
