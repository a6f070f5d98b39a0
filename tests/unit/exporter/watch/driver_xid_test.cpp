#include "exporter/watch/driver_xid.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/exporter/store/observations.h"

namespace gpuward::exporter {
namespace {

using testing::HasSubstr;

class DriverXid : public testing::Test {
 protected:
  DriverXid() {
    snapshot.gpus.emplace_back().uuid = "GPU-0";
    snapshot.gpus[0].pci = *parse_pci_address("0000:4e:00.0");
    snapshot.workloads.is_known = true;
    snapshot.workloads.by_device["GPU-0"] = {{"team-a", "trainer-0", "main"}};
  }
  Observation observe(std::uint32_t code) {
    GpuXid xid;
    xid.pci_bus_id = "0000:4e:00";
    xid.code = code;
    xid.seen = at_second(1);
    return observe(xid);
  }
  Observation observe(const GpuXid& xid) {
    Settings settings;
    settings.catalogue = options;
    const Policy policy{settings, std::make_shared<const xid::Catalogue>(options)};
    return observe_xid(xid, policy, snapshot);
  }

  xid::CatalogueOptions options;
  Snapshot snapshot;
};

TEST_F(DriverXid, IsJudgedByTheCatalogueAndKnowsWhoWasHit) {
  const Observation seen = observe(79);

  EXPECT_EQ(seen.verdict.severity, Severity::kReboot);
  EXPECT_EQ(seen.event.pci->bus_id(), "0000:4e:00");
  EXPECT_EQ(seen.seen, at_second(1));
  EXPECT_EQ(seen.evidence, Evidence::kKernel);
  EXPECT_TRUE(seen.is_driver_event);
  EXPECT_EQ(seen.workload, "team-a/trainer-0");
  EXPECT_THAT(seen.line, HasSubstr("Xid 79"));
}

TEST_F(DriverXid, IsMonitorAtMostIfTheTextOfItsLineDecides) {
  for (const std::uint32_t code : {74U, 144U, 145U, 146U, 147U, 148U, 149U, 150U, 154U}) {
    const Observation seen = observe(code);
    EXPECT_LE(seen.verdict.severity, Severity::kMonitor) << code;
  }
  EXPECT_THAT(observe(74).verdict.why, HasSubstr("kernel log"));
}

TEST_F(DriverXid, IsWhatTheOperatorSaysAlsoIfTheTextWouldDecide) {
  options.xid[74].severity = Severity::kIsolate;

  EXPECT_EQ(observe(74).verdict.severity, Severity::kIsolate);
}

TEST_F(DriverXid, NamesTheWorkloadOfTheMigInstanceThatWasHitAlone) {
  auto report = std::make_shared<GpuReport>();
  GpuReading& reading = report->vendors.emplace_back().gpus.emplace_back();
  reading.gpu = snapshot.gpus[0];
  reading.mig_instances = {{"MIG-a", 1, 0}, {"MIG-b", 2, 0}};
  snapshot.telemetry.report = report;
  snapshot.workloads.by_device = {{"MIG-a", {{"team-a", "one", "main"}}},
                                  {"MIG-b", {{"team-b", "two", "main"}}}};
  GpuXid xid;
  xid.pci_bus_id = "0000:4e:00";
  xid.code = 94;
  xid.gpu_instance = 2;
  xid.compute_instance = 0;

  const Observation seen = observe(xid);

  EXPECT_EQ(seen.workload, "team-b/two");
  EXPECT_EQ(seen.event.gpu_instance, 2U);
}

TEST_F(DriverXid, CountsForAnAddressThatTheInventoryDoesNotHave) {
  GpuXid xid;
  xid.pci_bus_id = "0000:ff:00";
  xid.code = 79;

  const Observation seen = observe(xid);

  EXPECT_EQ(seen.verdict.severity, Severity::kReboot);
  EXPECT_EQ(seen.workload, "");
}

TEST_F(DriverXid, TakesAnAddressThatIsNoneAsNotKnown) {
  GpuXid xid;
  xid.pci_bus_id = "nonsense";
  xid.code = 79;

  EXPECT_FALSE(observe(xid).event.pci.has_value());
}

}  // namespace
}  // namespace gpuward::exporter
