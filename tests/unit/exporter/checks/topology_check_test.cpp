#include "exporter/checks/rules/topology_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exporter/checks/check/decide.h"
#include "tests/unit/exporter/checks/check_bench.h"

namespace gpuward::exporter {
namespace {

using std::chrono::minutes;
using ::testing::HasSubstr;

class Topology : public ::testing::Test {
 protected:
  Topology() {
    bench_.host.with_nvswitches(4)
        .with_process(2, "kthreadd")
        .with_process(900, "nv-fabricmanager");
  }
  CheckOutcome run() {
    bench_.clock.advance(minutes(5));
    return bench_.run();
  }
  PeerStatus& peer(std::uint32_t from, std::uint32_t to) {
    for (PeerStatus& each : bench_.node.report.vendors[0].peers) {
      if (each.from == from && each.to == to) return each;
    }
    throw std::out_of_range("no such pair");
  }
  CheckBench bench_{topology_entry()};
};

TEST_F(Topology, PassesOnAHealthyNode) {
  const CheckOutcome outcome = run();
  EXPECT_EQ(codes_of(outcome), "");
  EXPECT_EQ(outcome.details, "8 GPUs");
}

TEST_F(Topology, NvlinkExpectedAndNoneIsolates) {
  for (std::size_t gpu = 0; gpu < 8; ++gpu) {
    for (Link& link : bench_.node.gpu(gpu).links) link.active = false;
  }
  EXPECT_EQ(severity_of(run(), "nvlink_absent"), Severity::kIsolate);
}

void turn_off_links(Scenario& node) {
  for (std::size_t gpu = 0; gpu < 8; ++gpu) {
    for (Link& link : node.gpu(gpu).links) link.active = false;
  }
}

// The profile alone expects them: links may be switched off.
TEST(TopologyOfAMachine, WithoutLinksIsWatchedIfOneSourceAloneExpectsThem) {
  CheckBench bench(topology_entry());
  turn_off_links(bench.node);
  for (std::size_t gpu = 0; gpu < 8; ++gpu) bench.node.gpu(gpu).fabric = fabric_in(0);
  EXPECT_EQ(severity_of(bench.run(), "nvlink_absent"), Severity::kMonitor);
  bench.node.settings.is_seed_profile = true;
  EXPECT_EQ(severity_of(bench.run(), "nvlink_absent"), Severity::kIsolate);
  bench.node.settings.is_seed_profile = false;
  bench.node.forget_machine();
  EXPECT_EQ(codes_of(bench.run()), "") << "nothing expects NVLink";
}

// A host that lends its GPUs to virtual machines may have none for a while.
TEST(TopologyOfAMachine, WithoutLinksIsWatchedIfNoProfileSaysThatItHasThem) {
  CheckBench bench(topology_entry());
  bench.host.with_nvswitches(4).with_process(2, "kthreadd").with_process(900, "nv-fabricmanager");
  bench.node.forget_machine();
  bench.node.remember_links();
  EXPECT_EQ(codes_of(bench.run()), "");
  turn_off_links(bench.node);
  EXPECT_EQ(severity_of(bench.run(), "nvlink_absent"), Severity::kMonitor);
}

// The fabric manager brings the links up: without it the hardware is not to blame.
TEST_F(Topology, LinksThatAreOffWhileTheFabricIsNotReadyAreWatched) {
  turn_off_links(bench_.node);
  bench_.node.gpu(3).fabric.state = 2;
  EXPECT_EQ(severity_of(run(), "nvlink_absent"), Severity::kMonitor);
}

TEST(TopologyOfAMachine, NeedsAFabricManagerWhereAnNvswitchIs) {
  CheckBench bench(topology_entry());
  bench.host.with_nvswitches(4).with_process(2, "kthreadd");
  bench.node.forget_machine();
  for (std::size_t gpu = 0; gpu < 8; ++gpu) bench.node.gpu(gpu).fabric = {};
  EXPECT_EQ(severity_of(bench.run(), "fabric_manager_down"), Severity::kMonitor);
  bench.node.remember_links();
  EXPECT_EQ(severity_of(bench.run(), "fabric_manager_down"), Severity::kMonitor);
}

// HGX B200: github.com/NVIDIA/gpu-operator issue 2781.
TEST(TopologyOfAMachine, NeedsAFabricManagerWhereADeviceManagesNvswitches) {
  CheckBench bench(topology_entry());
  bench.host.with_nvswitch_managers(4).with_process(2, "kthreadd");
  EXPECT_EQ(severity_of(bench.run(), "fabric_manager_down_completed"), Severity::kMonitor);
  for (std::size_t gpu = 0; gpu < 8; ++gpu) bench.node.gpu(gpu).fabric.state = kFabricInProgress;
  EXPECT_EQ(severity_of(bench.run(), "fabric_manager_down"), Severity::kReset);
  bench.host.with_process(900, "nv-fabricmanager");
  EXPECT_EQ(codes_of(bench.run()), "");
}

// GB200 NVL72 has its NVSwitches in trays of their own; the fabric of a guest belongs to a virtual
// machine that manages the switches for all guests.
TEST(TopologyOfAMachine, NeedsNoFabricManagerOfItsOwnForAFabricThatOthersManage) {
  CheckBench bench(topology_entry());
  bench.host.with_connectx(4).with_process(2, "kthreadd");
  EXPECT_EQ(codes_of(bench.run()), "");
  for (std::size_t gpu = 0; gpu < 8; ++gpu) bench.node.gpu(gpu).fabric.state = kFabricInProgress;
  EXPECT_EQ(codes_of(bench.run()), "") << "check gpu reports it: fabric_not_ready";
}

// The replaced suite does not wait.
TEST_F(Topology, SoonAfterBootOnlyTheSeedProfileIsAboveMonitor) {
  bench_.host.write("proc/uptime", "60.00 100.00\n").remove("proc/900");
  turn_off_links(bench_.node);
  for (std::size_t gpu = 0; gpu < 8; ++gpu) bench_.node.gpu(gpu).fabric = {};
  EXPECT_EQ(severity_of(run(), "nvlink_absent"), Severity::kMonitor);
  EXPECT_EQ(severity_of(run(), "fabric_manager_down"), Severity::kMonitor);
  bench_.node.settings.is_seed_profile = true;
  EXPECT_EQ(severity_of(run(), "nvlink_absent"), Severity::kIsolate);
  EXPECT_EQ(severity_of(run(), "fabric_manager_down"), Severity::kReset);
}

// A bridge joins two of four cards.
TEST(TopologyOfAMachine, WithBridgesNeedsNoNvlinkBetweenAllCards) {
  CheckBench bench(topology_entry());
  bench.node.forget_machine();
  bench.node.remember_links();
  for (std::size_t gpu = 0; gpu < 8; ++gpu) bench.node.gpu(gpu).fabric = fabric_in(0);
  for (PeerStatus& each : bench.node.report.vendors[0].peers) each.nvlink_status = 5;
  EXPECT_EQ(codes_of(bench.run()), "");
}

TEST_F(Topology, LinksThatTheDriverDoesNotTellOfAreNotMissing) {
  for (std::size_t gpu = 0; gpu < 8; ++gpu) bench_.node.gpu(gpu).links.clear();
  EXPECT_EQ(codes_of(run()), "");
  const auto peers = std::exchange(bench_.node.report.vendors[0].peers, {});
  EXPECT_EQ(codes_of(run()), "");
  EXPECT_EQ(run().kind, CheckOutcome::Kind::kError) << "nobody has said anything of them";
  bench_.node.report.vendors[0].peers = peers;
  for (PeerStatus& each : bench_.node.report.vendors[0].peers) each.nvlink_status = 5;
  EXPECT_EQ(severity_of(run(), "nvlink_absent"), Severity::kIsolate);
}

TEST_F(Topology, OneLinkThatIsOffDoesNotMeanNone) {
  bench_.node.gpu(0).links[0].active = false;
  EXPECT_EQ(codes_of(run()), "");
}

TEST_F(Topology, APairWithoutNvlinkIsSeenAmongHealthyOnes) {
  peer(2, 5).nvlink_status = 5;  // NVML_P2P_STATUS_NOT_SUPPORTED
  const CheckOutcome outcome = run();
  ASSERT_EQ(severity_of(outcome, "p2p_unsupported"), Severity::kMonitor);
  EXPECT_EQ(outcome.findings[0].line, "1 pairs: 2-5");
}

TEST_F(Topology, TwoGpusInOnePlaceThatCannotReachEachOtherIsolate) {
  peer(2, 5).topology = 0;
  EXPECT_EQ(codes_of(run()), "");
  peer(2, 5).read_status = 5;
  EXPECT_EQ(severity_of(run(), "topology_broken"), Severity::kIsolate);
}

TEST_F(Topology, B200PeerToPeerPathsThatAreNotSupportedWarn) {
  bench_.node.profile->type = "p6-b200.48xlarge";
  peer(0, 1).write_status = 5;
  EXPECT_EQ(severity_of(run(), "p2p_unsupported"), Severity::kMonitor);
}

TEST_F(Topology, MigHasNoPeers) {
  bench_.node.gpu(0).mig_enabled = true;
  for (PeerStatus& each : bench_.node.report.vendors[0].peers) each.read_status = 2;
  EXPECT_EQ(codes_of(run()), "");
}

// Any process may use this name.
TEST_F(Topology, AFabricManagerThatIsNotRootsIsNone) {
  bench_.host.with_uids(900, 65534, 65534);
  EXPECT_EQ(severity_of(run(), "fabric_manager_down_completed"), Severity::kMonitor);
  bench_.host.with_process(901, "nv-fabricmanager");
  EXPECT_EQ(codes_of(run()), "");
}

// One GPU that hangs says nothing about its fabric. The seven others are in it.
TEST_F(Topology, AFabricManagerThatIsDownBesideAHungGpuIsJudgedByTheOtherGpus) {
  bench_.host.remove("proc/900");
  GpuReading& hung = bench_.node.gpu(3);
  hung.is_hung = true;
  hung.fault = "The driver has not answered within 20 s";
  hung.fabric = {};
  EXPECT_EQ(severity_of(run(), "fabric_manager_down_completed"), Severity::kMonitor);
  for (std::size_t gpu = 0; gpu < 8; ++gpu) bench_.node.gpu(gpu).fabric.state = 2;
  EXPECT_EQ(severity_of(run(), "fabric_manager_down"), Severity::kReset);
  for (std::size_t gpu = 0; gpu < 8; ++gpu) bench_.node.gpu(gpu).fabric = {};
  EXPECT_EQ(severity_of(run(), "fabric_manager_down"), Severity::kReset) << "nobody says it is in";
}

TEST_F(Topology, SpeaksForAGpuThatHangs) {
  bench_.node.kernel_has("gpu", "driver_hung", Scenario::bus_id(3), Severity::kReboot,
                         Evidence::kMeasured);
  const CheckOutcome outcome = run();
  EXPECT_EQ(outcome.latched, Severity::kReboot);
  EXPECT_THAT(outcome.details, HasSubstr("driver_hung"));
}

TEST_F(Topology, LinkErrorsOfTheBoardsLifeAreNoWarningNewOnesAre) {
  bench_.node.gpu(3).links[2].recovery_errors = 12'000;
  EXPECT_EQ(codes_of(run()), "");
  EXPECT_EQ(codes_of(run()), "");
  bench_.node.gpu(3).links[2].recovery_errors = 12'002;
  const CheckOutcome outcome = run();
  ASSERT_EQ(codes_of(outcome), "nvlink_recovery_errors");
  EXPECT_EQ(outcome.findings[0].line,
            "2 NVLink recovery, replay or effective errors since the last check");
  EXPECT_EQ(outcome.findings[0].severity, Severity::kMonitor);
  EXPECT_EQ(codes_of(run()), "");
  bench_.node.gpu(3).links[2].replay_errors = 1;
  EXPECT_EQ(codes_of(run()), "nvlink_recovery_errors");
}

TEST_F(Topology, CrcErrorsCountFromAHundredASecond) {
  static_cast<void>(run());
  bench_.node.gpu(3).links[2].crc_flit_errors = 300 * 99;
  EXPECT_EQ(codes_of(run()), "");
  *bench_.node.gpu(3).links[2].crc_flit_errors += 300 * 100;
  EXPECT_EQ(codes_of(run()), "nvlink_crc_errors");
}

// LESSONS 4: fabric manager down 20 days (NVSentinel #891).
TEST_F(Topology, FabricManagerDownIsSeenAlthoughTheGpusAreInTheirFabric) {
  bench_.host.remove("proc/900");
  EXPECT_EQ(severity_of(run(), "fabric_manager_down_completed"), Severity::kMonitor);
  for (std::size_t gpu = 0; gpu < 8; ++gpu) bench_.node.gpu(gpu).fabric = {};  // A100: none
  EXPECT_EQ(severity_of(run(), "fabric_manager_down"), Severity::kReset);
}

TEST_F(Topology, AFabricManagerThatCannotBeSeenFromHereIsNotDown) {
  bench_.host.remove("proc/900").remove("proc/2");
  const CheckOutcome outcome = run();
  EXPECT_EQ(codes_of(outcome), "");
  EXPECT_THAT(outcome.details, HasSubstr("needs hostPID"));
}

TEST_F(Topology, NobodyNeedsAFabricManagerWithoutNvswitches) {
  CheckBench bare(topology_entry());
  bare.host.with_process(2, "kthreadd");
  EXPECT_EQ(codes_of(bare.run()), "");
}

TEST_F(Topology, SpeaksForAMissingGpu) {
  bench_.node.was_found_before_the_reboot("gpu_missing", "");
  bench_.node.known.findings.begin()->second.severity = Severity::kReboot;
  EXPECT_EQ(run().latched, Severity::kReboot);
}

TEST_F(Topology, CannotTellWhileTheDriverDoesNotAnswer) {
  bench_.node.state = WorkerState::kHung;
  EXPECT_EQ(run().kind, CheckOutcome::Kind::kError);
}

TEST_F(Topology, IsAnErrorIfAllGpusAreLostAndNeverAPass) {
  for (std::size_t gpu = 0; gpu < 8; ++gpu) {
    GpuReading bare;
    bare.gpu = bench_.node.gpu(gpu).gpu;
    bare.is_lost = true;
    bench_.node.gpu(gpu) = bare;
  }
  bench_.node.report.vendors[0].peers.clear();
  const CheckOutcome outcome = run();
  EXPECT_EQ(outcome.kind, CheckOutcome::Kind::kError);
  EXPECT_EQ(decide_status(outcome, "3-topology-check", {}).status, CheckStatus::kError);
  EXPECT_THAT(outcome.details, HasSubstr("8 do not answer"));
}

TEST_F(Topology, IsAnErrorIfOneGpuDoesNotAnswerAndStillJudgesTheOthers) {
  bench_.node.gpu(3).fault = "Unknown Error";
  peer(2, 5).nvlink_status = 5;
  const CheckOutcome outcome = run();
  EXPECT_EQ(outcome.kind, CheckOutcome::Kind::kError);
  EXPECT_EQ(codes_of(outcome), "p2p_unsupported");
}

TEST_F(Topology, IsAnErrorIfTheDriverSpeaksOfNoGpuThatIsOnTheBus) {
  bench_.node.report.vendors[0].gpus.clear();
  EXPECT_EQ(run().kind, CheckOutcome::Kind::kError);
  bench_.node.report.vendors[0].state = LibraryState::kAbsent;
  EXPECT_EQ(run().kind, CheckOutcome::Kind::kError);
}

TEST(TopologyWithoutGpus, IsSkipped) {
  CheckBench bench(topology_entry());
  bench.node.report.vendors[0].gpus.clear();
  bench.node.forget_machine();
  for (std::size_t gpu = 0; gpu < 8; ++gpu) {
    bench.host.remove("sys/bus/pci/devices/" + Scenario::bus_id(gpu) + ".0");
  }
  EXPECT_EQ(bench.run().kind, CheckOutcome::Kind::kSkipped);
}

}  // namespace
}  // namespace gpuward::exporter
