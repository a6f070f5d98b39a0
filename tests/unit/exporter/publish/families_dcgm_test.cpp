#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/metrics/text_format.h"
#include "exporter/publish/families.h"
#include "tests/unit/exporter/publish/filled_snapshot.h"
#include "tests/unit/exporter/store/observations.h"

namespace gpuward::exporter {
namespace {

using testing::HasSubstr;
using testing::Not;

class DcgmFamiliesTest : public testing::Test {
 protected:
  std::string text(bool is_on = true) {
    return metrics::to_text(exporter_families(snapshot, xid::Catalogue(),
                                              {.dcgm_compat = is_on, .hostname = "gpu-node-1"}));
  }

  Snapshot snapshot = filled_snapshot(1);
};

TEST_F(DcgmFamiliesTest, AreThereOnRequestOnly) {
  EXPECT_THAT(text(false), Not(HasSubstr("DCGM_")));
}

// The labels and their order as a dcgm-exporter writes them (a scrape quoted in its users' tests:
// {gpu,UUID,pci_bus_id,device,modelName,Hostname,DCGM_FI_DRIVER_VERSION,container,namespace,pod}).
TEST_F(DcgmFamiliesTest, CarryTheLabelsOfDcgmExporter) {
  EXPECT_THAT(text(), HasSubstr("DCGM_FI_DEV_GPU_TEMP{gpu=\"0\",UUID=\"GPU-0\",pci_bus_id="
                                "\"00000000:40:00.0\",device=\"nvidia0\",modelName=\"NVIDIA H200\","
                                "Hostname=\"gpu-node-1\",DCGM_FI_DRIVER_VERSION=\"570.133.20\","
                                "container=\"worker\",namespace=\"team-a\",pod=\"train-0\"} 41\n"));
}

TEST_F(DcgmFamiliesTest, AreInItsUnits) {
  const std::string out = text();
  const auto value = [&](const std::string& name) {
    const auto at = out.find("\n" + name + "{");
    if (at == std::string::npos) return std::string("absent");
    const auto space = out.find("} ", at) + 2;
    return out.substr(space, out.find('\n', space) - space);
  };

  EXPECT_EQ(value("DCGM_FI_DEV_SM_CLOCK"), "1980");
  EXPECT_EQ(value("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION"), "1234567500");
  EXPECT_EQ(value("DCGM_FI_DEV_GPU_UTIL"), "50");
  EXPECT_EQ(value("DCGM_FI_DEV_FB_USED"), "1024");
  EXPECT_EQ(value("DCGM_FI_DEV_POWER_VIOLATION"), "1500000");
  EXPECT_EQ(value("DCGM_FI_DEV_ECC_DBE_VOL_TOTAL"), "1");
  EXPECT_EQ(value("DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL"), "54");
}

TEST_F(DcgmFamiliesTest, GiveTheLastXidAndNotACount) {
  LatchedState latched{State{}};
  latched.observe(observe_xid({.code = 48, .pci = "0000:40:00", .second = 1}));
  latched.observe(observe_xid({.code = 48, .pci = "0000:40:00", .second = 2}));
  latched.observe(observe_xid({.code = 31, .pci = "0000:40:00", .second = 3}));
  snapshot.state = latched.state();

  const std::string out = text();

  const auto at = out.find("\nDCGM_FI_DEV_XID_ERRORS{");
  ASSERT_NE(at, std::string::npos);
  const std::string line = out.substr(at + 1, out.find('\n', at + 1) - at - 1);
  EXPECT_THAT(line, HasSubstr("err_code=\"31\""));
  EXPECT_THAT(line, testing::EndsWith("} 31"));
}

TEST_F(DcgmFamiliesTest, SayZeroIfNoXidWasSeen) {
  snapshot.state = State{};

  EXPECT_THAT(text(), HasSubstr("err_code=\"0\",err_msg=\"No Error\"} 0\n"));
}

TEST_F(DcgmFamiliesTest, LeaveOutWhatIsNotNvidias) {
  set_readings({filled_reading(0, Vendor::kAmd)}, snapshot);

  EXPECT_THAT(text(), Not(HasSubstr("DCGM_FI_DEV")));
}

}  // namespace
}  // namespace gpuward::exporter
