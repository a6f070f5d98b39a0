#include "exporter/checks/efa/efa_loopback_report.h"

#include <gmock/gmock.h>

#include "tests/unit/exporter/checks/dcgm_samples.h"

namespace gpuward::exporter {
namespace {

using samples::recorded;
using testing::ElementsAre;

TEST(FabricDomains, AreThoseOfTheProviderItself) {
  EXPECT_THAT(fabric_domains(recorded("efa/fi_info-p4d.txt"), "efa"),
              ElementsAre("efa_0-rdm", "efa_1-rdm", "efa_2-rdm", "efa_3-rdm"));
  EXPECT_THAT(fabric_domains(recorded("efa/fi_info-2020.txt"), "efa"), ElementsAre("efa_0-rdm"));
}

TEST(FabricDomains, NameADomainOfSeveralFabricsOnce) {
  EXPECT_THAT(fabric_domains(recorded("efa/fi_info-2.6-direct.txt"), "efa"),
              ElementsAre("rdmap47s0-rdm"));
}

TEST(FabricDomains, AreNoneInGarbage) {
  EXPECT_TRUE(fabric_domains("", "efa").empty());
  EXPECT_TRUE(fabric_domains("domain: x\ntype: FI_EP_RDM\nprovider:", "efa").empty());
}

TEST(DeviceOfDomain, IsWithoutTheEnding) {
  EXPECT_EQ(device_of_domain("rdmap86s0-rdm"), "rdmap86s0");
  EXPECT_EQ(device_of_domain("lo"), "lo");
}

TEST(PingPong, ReadsTheBestOfAllSizes) {
  EXPECT_NEAR(pingpong_gbits(recorded("efa/fi_pingpong-efa.txt")).value(), 17.485, 0.001);
  EXPECT_NEAR(pingpong_gbits(recorded("efa/fi_pingpong-tcp.txt")).value(), 53.929, 0.001);
}

TEST(PingPong, HasNoBandwidthWithoutATable) {
  EXPECT_EQ(pingpong_gbits(""), std::nullopt);
  EXPECT_EQ(pingpong_gbits("bytes #sent MB/sec\n64 10\n"), std::nullopt);
  EXPECT_EQ(pingpong_gbits("64 10 =10 1.2k 0.04s nan 1 1\n"), std::nullopt);
}

TEST(WriteBandwidth, ReadsBothUnits) {
  EXPECT_DOUBLE_EQ(write_bandwidth_gbits(recorded("efa/ib_write_bw-gbits.txt")).value(), 0.48);
  EXPECT_NEAR(write_bandwidth_gbits(" #bytes #iterations BW peak[MB/sec] BW average[MB/sec] Rate\n"
                                    " 65536  664644  11728.47  11728.47  0.187\n")
                  .value(),
              98.386, 0.001);
  EXPECT_EQ(write_bandwidth_gbits("65536 1 2 3 4\n"), std::nullopt);
}

}  // namespace
}  // namespace gpuward::exporter
