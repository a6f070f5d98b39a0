// Machines without a profile: their GPUs are compared to the most that they have had and to the
// labels of their node, and the finding is never above monitor. Devices that are not GPUs do not
// count.
#include "exporter/checks/rules/expected_gpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "exporter/checks/check/decide.h"
#include "tests/unit/exporter/checks/scenario.h"

namespace gpuward::exporter {
namespace {

using ::testing::HasSubstr;

// A node of a type without a profile, which has had eight GPUs.
Scenario without_profile() {
  Scenario node;
  node.profile.reset();
  node.known.machine.machine.system_uuid = "4c4c4544";
  node.known.machine.most[Vendor::kNvidia] = 8;
  return node;
}

Scenario with_lost_card() {
  Scenario node = without_profile();
  node.take_out_of_driver(7);
  node.take_off_bus(7);
  return node;
}

TEST(ExpectedGpus, OfAMachineWithoutAProfileAreTheMostThatItHasHad) {
  EXPECT_EQ(codes_of(without_profile().judge()), "");
  const CheckOutcome outcome = with_lost_card().judge();
  ASSERT_EQ(codes_of(outcome), "gpu_missing_unconfirmed");
  EXPECT_EQ(outcome.findings[0].severity, Severity::kMonitor);
  EXPECT_THAT(
      outcome.findings[0].line,
      HasSubstr("7 reported by the driver, 7 on the PCI bus; most seen on this machine: 8"));
  EXPECT_THAT(outcome.no_job, HasSubstr("gpu_missing_unconfirmed"));
}

// A remembered count is not disruptive: no reboot, and the node stays in service.
TEST(ExpectedGpus, ThatAreRememberedAreNeverAboveMonitor) {
  Scenario node = with_lost_card();
  node.was_found_before_the_reboot("gpu_missing", "");
  node.kernel_has("xid", "79", Scenario::bus_id(7), Severity::kReboot);
  EXPECT_EQ(severity_of(node.judge(), "gpu_missing_unconfirmed"), Severity::kMonitor);
  EXPECT_EQ(severity_of(node.judge(), "gpu_missing"), Severity::kNone);
  node.settings.is_seed_profile = true;
  EXPECT_EQ(severity_of(node.judge(), "gpu_missing_unconfirmed"), Severity::kMonitor);
}

TEST(ExpectedGpus, OfTheProfileOutrankWhatIsRememberedOrLabelled) {
  Scenario node = with_lost_card();
  node.profile = InstanceProfile{"x9.large", 7, 0, false, "efa"};
  node.known.machine.labelled[Vendor::kNvidia] = 8;
  EXPECT_EQ(codes_of(node.judge()), "");
}

TEST(ExpectedGpus, AreThoseOfTheLabelsIfTheMachineHasNeverHadAsMany) {
  Scenario node = with_lost_card();
  node.known.machine.most.clear();
  node.known.machine.labelled[Vendor::kNvidia] = 8;
  const CheckOutcome outcome = node.judge();
  ASSERT_EQ(codes_of(outcome), "gpu_missing_unconfirmed");
  EXPECT_THAT(outcome.findings[0].line, HasSubstr("the node's labels say 8"));
}

// GPU feature discovery lists the GPUs again each minute.
TEST(ExpectedGpus, StayIfTheLabelFallsWithTheGpu) {
  Scenario node = with_lost_card();
  node.known.machine.labelled[Vendor::kNvidia] = 7;
  EXPECT_EQ(codes_of(node.judge()), "gpu_missing_unconfirmed");
}

TEST(ExpectedGpus, MayBeFewerThanThereAre) {
  Scenario node = without_profile();
  node.known.machine.most.clear();
  node.known.machine.labelled[Vendor::kNvidia] = 1;
  EXPECT_EQ(codes_of(node.judge()), "") << "no gpu_extra: the labels are no profile";
}

TEST(ExpectedGpus, GivenToAVirtualMachineAreNotMissing) {
  Scenario node = without_profile();
  node.take_out_of_driver(7);
  node.on_bus(7).driver = "vfio-pci";
  EXPECT_EQ(codes_of(node.judge()), "");
}

TEST(ExpectedGpus, MakeAMissingLibraryAnErrorAlsoIfTheBusHasNone) {
  for (const bool is_label : {false, true}) {
    Scenario node(0);
    node.forget_machine();
    node.report.vendors.clear();
    EXPECT_EQ(node.judge().kind, kSkipped);
    (is_label ? node.known.machine.labelled : node.known.machine.most)[Vendor::kNvidia] = 8;
    const CheckOutcome outcome = node.judge();
    EXPECT_EQ(outcome.kind, kError);
    EXPECT_EQ(codes_of(outcome), "library_unusable, gpu_missing_unconfirmed");
    EXPECT_NE(outcome.no_job, "");
  }
}

TEST(ExpectedGpus, AllGivenToVirtualMachinesNeedNoLibrary) {
  Scenario node = without_profile();
  node.report.vendors.clear();
  for (std::size_t gpu = 0; gpu < 8; ++gpu) node.on_bus(gpu).driver = "vfio-pci";
  EXPECT_EQ(node.judge().kind, kSkipped);
}

TEST(ExpectedGpus, AreCountedByVendor) {
  Scenario node = amd_scenario_node();
  node.known.machine.most[Vendor::kAmd] = 2;
  EXPECT_EQ(codes_of(node.judge()), "gpu_missing_unconfirmed");
  node.known.machine.most = {{Vendor::kAmd, 1}};
  EXPECT_EQ(codes_of(node.judge()), "");
}

// After a start the exporter finds out the type while the first reading is under way.
TEST(ExpectedGpus, AreNotKnownYetWhileNobodyHasAskedWhichMachineThisIs) {
  Scenario node;
  node.profile.reset();
  node.instance_source.clear();
  Finding earlier;
  earlier.code = "gpu_missing";
  const auto is_kept = [&](const CheckOutcome& outcome) {
    return std::ranges::any_of(outcome.untold,
                               [&](const Untold& untold) { return untold.covers(earlier); });
  };
  EXPECT_TRUE(is_kept(node.judge()));
  node.instance_source = "unknown";
  EXPECT_FALSE(is_kept(node.judge()));
}

}  // namespace
}  // namespace gpuward::exporter
