#include "exporter/host/rdma.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/support/host_tree.h"

namespace gpuward::exporter {
namespace {

using support::HostTree;

std::string file_of(const std::string& name) {
  return HostTree::pci_file("0000:10:00.0", "infiniband/rdmap16s0/" + name);
}

TEST(Rdma, GivesEveryEfaDeviceWithItsCounters) {
  HostTree node;
  node.with_efa(32, 7);
  const auto readings = read_rdma(node.paths());
  ASSERT_EQ(readings.size(), 32U);
  const RdmaReading& first = readings.front();
  EXPECT_EQ(first.device, "rdmap16s0");
  EXPECT_EQ(first.pci_bus_id, "0000:10:00");
  EXPECT_TRUE(first.is_efa);
  EXPECT_EQ(first.counters.at("1").size(), 22U);
  EXPECT_EQ(first.counters.at("1").at("retrans_timeout_events"), 7U);
}

// The replaced exporter declared these twelve and never filled them. They are in the folder of the
// device.
TEST(Rdma, GivesTheCountersOfTheDeviceItselfToo) {
  HostTree node;
  node.with_efa(1, 7);
  const auto own = read_rdma(node.paths()).front().counters.at("");
  EXPECT_EQ(own.size(), 12U);
  EXPECT_EQ(own.at("keep_alive_rcvd"), 7U);
}

TEST(Rdma, TakesLifespanForTheSettingThatItIs) {
  HostTree node;
  node.with_efa(1).with_infiniband("mlx5_0");
  for (const RdmaReading& reading : read_rdma(node.paths())) {
    for (const auto& [port, counters] : reading.counters)
      EXPECT_FALSE(counters.contains("lifespan")) << reading.device << " port " << port;
  }
}

// Its driver always reports ACTIVE.
TEST(Rdma, SaysNothingOfThePortOfAnEfaDevice) {
  HostTree node;
  node.with_efa(1);
  EXPECT_TRUE(read_rdma(node.paths()).front().ports.empty());
}

TEST(Rdma, GivesStateAndRateOfOtherPorts) {
  HostTree node;
  node.with_infiniband("mlx5_0");
  const auto readings = read_rdma(node.paths());
  ASSERT_EQ(readings.size(), 1U);
  EXPECT_FALSE(readings[0].is_efa);
  EXPECT_EQ(readings[0].ports.at("1"), (RdmaPort{4, 5, 400.0}));
  EXPECT_EQ(readings[0].counters.at("1").at("link_downed"), 3U);
  EXPECT_EQ(readings[0].counters.at("1").at("out_of_sequence"), 17U);
}

// One foreign device without hw_counters failed all of the replaced exporter.
TEST(Rdma, IsNotSpoiledByADeviceWithoutCounters) {
  HostTree node;
  node.with_efa(2, 1).with_infiniband("mlx5_0");
  node.remove(HostTree::pci_file("0000:0f:00.0", "infiniband/mlx5_0/ports"));
  const auto readings = read_rdma(node.paths());
  ASSERT_EQ(readings.size(), 3U);
  EXPECT_EQ(readings[0].device, "mlx5_0");
  EXPECT_TRUE(readings[0].counters.empty());
  EXPECT_FALSE(readings[1].counters.empty());
}

TEST(Rdma, MakesNoNumberOfWhatCannotBeReadOrIsNoNumber) {
  HostTree node;
  node.with_efa(1, 5);
  node.remove(file_of("ports/1/hw_counters/retrans_pkts"));  // older Nitro cards
  node.write(file_of("ports/1/hw_counters/rx_drops"), "");
  node.write(file_of("ports/1/hw_counters/rx_pkts"), "N/A\n");
  node.write(file_of("ports/1/hw_counters/tx_pkts"), "-1\n");
  node.write(file_of("ports/1/hw_counters/tx_bytes"), "18446744073709551616\n");
  node.write(file_of("ports/1/hw_counters/rx_bytes"), std::string(100'000, '1'));
  const auto port = read_rdma(node.paths()).front().counters.at("1");
  EXPECT_EQ(port.size(), 22U - 6U);
  for (const char* const name :
       {"retrans_pkts", "rx_drops", "rx_pkts", "tx_pkts", "tx_bytes", "rx_bytes"})
    EXPECT_FALSE(port.contains(name)) << name;
}

TEST(Rdma, IsNotHeldUpByAPipeInPlaceOfAFile) {
  HostTree node;
  node.with_efa(1, 5).remove(file_of("ports/1/hw_counters/rx_drops"));
  const auto path = node.paths().sys.parent_path() / file_of("ports/1/hw_counters/rx_drops");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(read_rdma(node.paths()).front().counters.at("1").size(), 21U);
}

// An empty list is a valid answer, not a failure.
TEST(Rdma, IsEmptyIfThereIsNone) {
  const HostTree node;
  EXPECT_TRUE(read_rdma(node.paths()).empty());
  EXPECT_TRUE(list_user_verbs(node.paths()).empty());
}

TEST(UserVerbs, AreMatchedWithTheirDeviceNodes) {
  HostTree node;
  node.with_efa(2).remove("dev/infiniband/uverbs1");
  EXPECT_THAT(list_user_verbs(node.paths()),
              ::testing::ElementsAre(UserVerbs{"uverbs0", "rdmap16s0", true},
                                     UserVerbs{"uverbs1", "rdmap17s0", false}));
}

}  // namespace
}  // namespace gpuward::exporter
