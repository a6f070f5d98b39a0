// NVLinks and the fabric on machines that no table has: the machine itself reports which ones it
// has.
#include "exporter/checks/rules/expected_links.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "tests/unit/exporter/checks/scenario.h"

namespace gpuward::exporter {
namespace {

using std::chrono::minutes;
using ::testing::HasSubstr;

// Bare metal with eight healthy H100s, at its first boot.
Scenario unknown_machine() {
  Scenario node;
  node.forget_machine();
  return node;
}

void turn_off(GpuReading& gpu) {
  for (Link& link : gpu.links) link.active = false;
}

// A card without NVSwitch: its links go to one other card, or are off.
void bridge(Scenario& node, std::size_t one, std::size_t other) {
  for (const auto& [from, to] : {std::pair(one, other), std::pair(other, one)}) {
    for (Link& link : node.gpu(from).links) link.remote_pci_bus_id = Scenario::bus_id(to);
  }
}

Scenario cards(unsigned count) {
  Scenario node(count);
  node.forget_machine();
  for (std::size_t gpu = 0; gpu < count; ++gpu) node.gpu(gpu).fabric = fabric_in(0);
  return node;
}

TEST(UnknownMachine, ThatIsHealthyHasNoFinding) {
  EXPECT_EQ(codes_of(unknown_machine().judge()), "");
}

// Report 25: github.com/leptonai/gpud issue 1085.
TEST(UnknownMachine, NamesTheGpuWhoseSiblingsHaveActiveLinks) {
  Scenario node = unknown_machine();
  turn_off(node.gpu(3));
  const CheckOutcome outcome = node.judge();
  ASSERT_EQ(codes_of(outcome), "nvlink_inactive");
  EXPECT_EQ(outcome.findings[0].severity, Severity::kMonitor);
  EXPECT_EQ(outcome.findings[0].pci_bus_id, Scenario::bus_id(3));
  EXPECT_THAT(outcome.findings[0].line,
              HasSubstr("most GPUs of this model on this node have 18 active"));
}

TEST(UnknownMachine, NamesTwoGpusAmongEight) {
  Scenario node = unknown_machine();
  turn_off(node.gpu(3));
  node.gpu(5).links[7].active = false;
  EXPECT_EQ(codes_of(node.judge()), "nvlink_inactive, nvlink_inactive");
}

TEST(UnknownMachine, ExpectsTheLinksThatThisGpuHadInThisBoot) {
  Scenario node = cards(2);
  node.remember_links();
  node.gpu(0).links[4].active = false;
  const CheckOutcome outcome = node.judge();
  ASSERT_EQ(codes_of(outcome), "nvlink_inactive");
  EXPECT_EQ(outcome.findings[0].line,
            "1 of 18 NVLinks are not active: 4; they were active earlier in this boot");
  node.known.boot_id = "boot-3";
  EXPECT_EQ(codes_of(node.judge()), "") << "an operator may have switched it off";
}

TEST(UnknownMachine, KeepsTheFindingWhileTheDriverSaysNothingOfTheLinks) {
  Scenario node = cards(2);
  node.gpu(0).links.clear();
  const auto untold = node.judge().untold;
  EXPECT_TRUE(std::ranges::any_of(
      untold, [](const Untold& each) { return each.code == "nvlink_inactive"; }));
}

// PCIe cards: a pair with a bridge beside cards without one.
TEST(UnknownMachine, MayHaveBridgesBetweenSomeOfItsCards) {
  for (const unsigned count : {3U, 4U, 8U}) {
    Scenario node = cards(count);
    for (std::size_t gpu = 2; gpu < count; ++gpu) turn_off(node.gpu(gpu));
    bridge(node, 0, 1);
    EXPECT_EQ(codes_of(node.judge()), "") << count;
  }
  Scenario two_pairs = cards(5);
  bridge(two_pairs, 0, 1);
  bridge(two_pairs, 2, 3);
  turn_off(two_pairs.gpu(4));
  EXPECT_EQ(codes_of(two_pairs.judge()), "");
}

TEST(UnknownMachine, MayHaveItsLinksSwitchedOff) {
  Scenario node = cards(8);
  for (std::size_t gpu = 0; gpu < 8; ++gpu) turn_off(node.gpu(gpu));
  EXPECT_EQ(codes_of(node.judge()), "");
}

TEST(UnknownMachine, MayHaveOneGpuInMigMode) {
  Scenario node = unknown_machine();
  node.gpu(3).mig_enabled = true;
  turn_off(node.gpu(3));
  EXPECT_EQ(codes_of(node.judge()), "");
}

TEST(UnknownMachine, MayHaveACardOfAnotherModel) {
  Scenario node = unknown_machine();
  node.gpu(7).gpu.name = "NVIDIA L40S";
  node.gpu(7).fabric = fabric_in(0);
  turn_off(node.gpu(7));
  EXPECT_EQ(codes_of(node.judge()), "");
}

// Report 58: github.com/NVIDIA/gpu-operator issue 2781. Every CUDA program ends with error 802.
TEST(UnknownMachine, WatchesAFabricThatIsNotReadyAndStartsNoJob) {
  for (const std::uint32_t state : {1U, 2U}) {
    Scenario node = unknown_machine();
    node.gpu(1).fabric.state = state;
    const CheckOutcome outcome = node.judge();
    EXPECT_EQ(severity_of(outcome, "fabric_not_ready"), Severity::kMonitor);
    EXPECT_THAT(outcome.findings[0].why,
                HasSubstr("the profile and a second source do not both say"));
    EXPECT_THAT(outcome.no_job, HasSubstr("fabric_not_ready"));
  }
}

// A host that lends its GPUs to virtual machines has switches, had links, and is healthy while a
// GPU waits for a partition.
TEST(UnknownMachine, WatchesAFabricThatOnlyBusDriverAndHistoryExpect) {
  Scenario node = unknown_machine();
  node.remember_links();
  node.facts.has_nvswitch = true;
  node.gpu(1).fabric.state = 2;
  EXPECT_EQ(severity_of(node.judge(), "fabric_not_ready"), Severity::kMonitor);
  node.gpu(1).fabric = fabric_in(3);
  node.gpu(1).fabric.status = 999;
  EXPECT_EQ(severity_of(node.judge(), "fabric_error"), Severity::kMonitor);
}

TEST(KnownType, ResetsForAFabricThatASecondSourceExpectsToo) {
  Scenario node;
  node.gpu(1).fabric.state = 2;
  EXPECT_EQ(severity_of(node.judge(), "fabric_not_ready"), Severity::kReset);
  node.facts.since_boot = minutes(3);
  EXPECT_EQ(severity_of(node.judge(), "fabric_not_ready"), Severity::kMonitor);
  node.facts.since_boot = minutes(60);
  node.gpu(1).fabric = fabric_in(3);
  node.gpu(1).fabric.status = 999;
  EXPECT_EQ(severity_of(node.judge(), "fabric_error"), Severity::kReset);
  node.profile->expects_nvlink = false;
  EXPECT_EQ(severity_of(node.judge(), "fabric_error"), Severity::kMonitor);
}

TEST(UnknownMachine, NamesWhatIsUnhealthyOfItsFabric) {
  Scenario node = unknown_machine();
  node.gpu(1).fabric.health_mask = 0x6AA;
  const CheckOutcome outcome = node.judge();
  ASSERT_EQ(codes_of(outcome), "fabric_unhealthy");
  EXPECT_EQ(outcome.findings[0].severity, Severity::kMonitor);
  EXPECT_THAT(outcome.findings[0].line, HasSubstr("incorrect configuration (GPU firmware)"));
}

TEST(UnknownMachine, WithoutAFabricIsAskedForNone) {
  Scenario node = cards(2);
  for (std::size_t gpu = 0; gpu < 2; ++gpu) {
    turn_off(node.gpu(gpu));
    node.gpu(gpu).fabric = {};
  }
  EXPECT_EQ(codes_of(node.judge()), "");
}

}  // namespace
}  // namespace gpuward::exporter
