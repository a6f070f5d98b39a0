// GPUs that are lost or missing, drivers that hang, libraries that do not work: the report of a
// single source is never above monitor.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "exporter/checks/check/decide.h"
#include "tests/unit/exporter/checks/scenario.h"

namespace gpuward::exporter {
namespace {

using ::testing::HasSubstr;

Scenario with_lost_gpu() {
  Scenario node;
  node.gpu(3).is_lost = true;
  return node;
}

TEST(LostGpu, ByTheDriverAloneIsOnlyWatched) {
  EXPECT_EQ(severity_of(with_lost_gpu().judge(), "gpu_lost_unconfirmed"), Severity::kMonitor);
}

TEST(LostGpu, TheKernelsXid79OnTheSameGpuMakesItReboot) {
  Scenario node = with_lost_gpu();
  node.kernel_has("xid", "79", Scenario::bus_id(3), Severity::kReboot);
  EXPECT_EQ(severity_of(node.judge(), "gpu_lost"), Severity::kReboot);
}

TEST(LostGpu, ALineOfAnEarlierBootIsNoSecondSource) {
  Scenario node = with_lost_gpu();
  node.kernel_has("xid", "79", Scenario::bus_id(3), Severity::kNone);
  Finding& line = node.known.findings.begin()->second;
  line.history = Severity::kReboot;
  EXPECT_EQ(severity_of(node.judge(), "gpu_lost"), Severity::kReboot) << "an old one of this boot";
  line.is_of_earlier_boot = true;
  EXPECT_EQ(severity_of(node.judge(), "gpu_lost_unconfirmed"), Severity::kMonitor);
}

TEST(LostGpu, AnXidOfAnotherGpuOrOfUserSpaceIsNoSecondSource) {
  Scenario node = with_lost_gpu();
  node.kernel_has("xid", "79", Scenario::bus_id(4), Severity::kReboot);
  node.kernel_has("xid", "79", Scenario::bus_id(3), Severity::kReboot, Evidence::kUserSpace);
  EXPECT_EQ(severity_of(node.judge(), "gpu_lost_unconfirmed"), Severity::kMonitor);
}

TEST(LostGpu, ThatNeverSaidWhereItIsCannotBeConfirmedByTheBus) {
  Scenario node = with_lost_gpu();
  node.gpu(3).gpu.pci = {};
  node.gpu(3).fault = "nvmlDeviceGetHandleByIndex_v2: GPU is lost";
  const CheckOutcome outcome = node.judge();
  EXPECT_EQ(outcome.kind, kError);
  EXPECT_EQ(codes_of(outcome), "gpu_unreadable") << "and not as one that the driver does not know";
  EXPECT_EQ(severity_of(outcome, "gpu_unreadable"), Severity::kMonitor);
}

TEST(LostGpu, WithoutAnAddressExplainsOnlyAsManyAsThereAreOfThem) {
  Scenario node = with_lost_gpu();
  node.gpu(3).gpu.pci = {};
  node.take_out_of_driver(7);
  EXPECT_EQ(severity_of(node.judge(), "gpu_undriven_unconfirmed"), Severity::kMonitor);
}

TEST(Job, DoesNotStartWhileAGpuIsOutOfReachHoweverFewSourcesSaySo) {
  EXPECT_EQ(Scenario().judge().no_job, "");
  EXPECT_THAT(with_lost_gpu().judge().no_job, HasSubstr("gpu_lost_unconfirmed"));
  Scenario hung;
  hung.gpu(2).is_hung = true;
  EXPECT_THAT(hung.judge().no_job, HasSubstr("driver_hung_unconfirmed"));
  Scenario undriven;
  undriven.take_out_of_driver(7);
  EXPECT_THAT(undriven.judge().no_job, HasSubstr("gpu_undriven_unconfirmed"));
  Scenario starting;
  starting.state = WorkerState::kStarting;
  EXPECT_NE(starting.judge().no_job, "");
  Scenario hot;
  hot.gpu(0).slowdown.reasons = 0x40;
  EXPECT_EQ(hot.judge().no_job, "");
}

TEST(LostGpu, AnXidThatOnlyTheSameLibraryTellsIsNoSecondSource) {
  Scenario node = with_lost_gpu();
  node.kernel_has("xid", "79", Scenario::bus_id(3), Severity::kReboot);
  node.known.findings.begin()->second.is_by_library_alone = true;
  EXPECT_EQ(severity_of(node.judge(), "gpu_lost_unconfirmed"), Severity::kMonitor);
}

TEST(LostGpu, AnXidOfAnEarlierBootIsNoSecondSource) {
  Scenario node = with_lost_gpu();
  node.kernel_has("xid", "79", Scenario::bus_id(3), Severity::kReboot);
  Finding& old = node.known.findings.begin()->second;
  old.first_boot_id = "boot-1";
  old.last_seen = node.now - std::chrono::hours(2);
  EXPECT_EQ(severity_of(node.judge(), "gpu_lost_unconfirmed"), Severity::kMonitor);
}

TEST(LostGpu, ADeadConfigurationSpaceMakesItReboot) {
  Scenario node = with_lost_gpu();
  node.on_bus(3).is_dead = true;
  EXPECT_EQ(severity_of(node.judge(), "gpu_lost"), Severity::kReboot);
}

TEST(LostGpu, IsOnlyWatchedInTheFirstMinutesAfterBootOrDriverLoad) {
  Scenario node = with_lost_gpu();
  node.on_bus(3).is_dead = true;
  node.facts.since_driver_load = std::chrono::minutes(14);
  EXPECT_EQ(severity_of(node.judge(), "gpu_lost"), Severity::kMonitor);
  node.facts.since_driver_load = std::chrono::minutes(15);
  EXPECT_EQ(severity_of(node.judge(), "gpu_lost"), Severity::kReboot);
  node.facts.since_boot.reset();
  EXPECT_EQ(severity_of(node.judge(), "gpu_lost"), Severity::kMonitor);
}

TEST(LostGpu, IsolatesWhenARebootHasNotHelped) {
  Scenario node = with_lost_gpu();
  node.on_bus(3).is_dead = true;
  node.was_found_before_the_reboot("gpu_lost", Scenario::bus_id(3));
  EXPECT_EQ(severity_of(node.judge(), "gpu_lost"), Severity::kIsolate);
}

TEST(LostGpu, IsNotForgottenWhileASecondSourceIsStillMissingAfterAReboot) {
  Scenario node = with_lost_gpu();
  node.was_found_before_the_reboot("gpu_lost", Scenario::bus_id(3));
  EXPECT_EQ(codes_of(node.judge()), "gpu_lost");
  EXPECT_EQ(severity_of(node.judge(), "gpu_lost"), Severity::kMonitor);
}

TEST(MissingGpu, ShortByDriverAndBusReboots) {
  Scenario node;
  node.take_out_of_driver(7);
  node.take_off_bus(7);
  const CheckOutcome outcome = node.judge();
  EXPECT_EQ(codes_of(outcome), "gpu_missing");
  EXPECT_EQ(severity_of(outcome, "gpu_missing"), Severity::kReboot);
  EXPECT_THAT(outcome.findings[0].line,
              HasSubstr("7 reported by the driver, 7 on the PCI bus; p5.48xlarge has 8"));
}

// A table is one source: the machine may be sold, partitioned or set up differently.
TEST(MissingGpu, ThatThisMachineHasNeverHadIsOnlyWatched) {
  for (const unsigned had : {0U, 7U}) {
    Scenario node;
    node.take_out_of_driver(7);
    node.take_off_bus(7);
    node.known.machine.most = {{Vendor::kNvidia, had}};
    EXPECT_EQ(codes_of(node.judge()), "gpu_missing_unconfirmed");
    EXPECT_EQ(severity_of(node.judge(), "gpu_missing_unconfirmed"), Severity::kMonitor);
    node.kernel_has("xid", "79", Scenario::bus_id(7), Severity::kReboot);
    EXPECT_EQ(severity_of(node.judge(), "gpu_missing"), Severity::kReboot);
  }
}

// An upgrade or a lost state has removed the history that confirmed it.
TEST(MissingGpu, ThatWasConfirmedInThisBootStaysSo) {
  Scenario node;
  node.take_out_of_driver(7);
  node.take_off_bus(7);
  Finding standing = node.judge().findings.at(0);
  ASSERT_EQ(standing.severity, Severity::kReboot);
  standing.last_boot_id = node.known.boot_id;
  node.known.findings[{"gpu", "gpu_missing", "", Evidence::kMeasured}] = standing;
  node.known.machine.most = {};
  EXPECT_EQ(severity_of(node.judge(), "gpu_missing"), Severity::kReboot);
}

TEST(MissingGpu, ShortByDriverAndBusAndBeforeTheFirstMinutesAreOverIsOnlyWatched) {
  Scenario node;
  node.take_out_of_driver(7);
  node.take_off_bus(7);
  node.facts.since_boot = std::chrono::minutes(14);
  EXPECT_EQ(severity_of(node.judge(), "gpu_missing"), Severity::kMonitor);
}

TEST(MissingGpu, IsolatesWhenItIsStillMissingAfterAReboot) {
  Scenario node;
  node.take_out_of_driver(7);
  node.take_off_bus(7);
  node.was_found_before_the_reboot("gpu_missing", "");
  EXPECT_EQ(severity_of(node.judge(), "gpu_missing"), Severity::kIsolate);
}

TEST(MissingGpu, OnTheBusButNotInTheDriverNeedsTheKernelsWord) {
  Scenario node;
  node.take_out_of_driver(7);
  EXPECT_EQ(codes_of(node.judge()), "gpu_undriven_unconfirmed");
  EXPECT_EQ(severity_of(node.judge(), "gpu_undriven_unconfirmed"), Severity::kMonitor);
  node.kernel_has("rm_init", "failed", Scenario::bus_id(7), Severity::kReboot);
  EXPECT_EQ(severity_of(node.judge(), "gpu_undriven"), Severity::kReboot);
}

TEST(MissingGpu, OfAnotherDriverIsNotMissed) {
  Scenario node;
  node.take_out_of_driver(7);
  node.on_bus(7).driver = "vfio-pci";
  node.profile.reset();
  EXPECT_EQ(codes_of(node.judge()), "");
}

TEST(MissingGpu, ShortByTheDriverWithABusThatCannotBeReadIsOnlyWatched) {
  Scenario node;
  node.known.machine.most.clear();
  node.take_out_of_driver(7);
  node.facts.pci_gpus.reset();
  EXPECT_EQ(codes_of(node.judge()), "gpu_missing_unconfirmed");
  EXPECT_EQ(severity_of(node.judge(), "gpu_missing_unconfirmed"), Severity::kMonitor);
}

TEST(MissingGpu, NothingIsMissingIfTheDriverHasAllOfThem) {
  Scenario node;
  node.take_off_bus(7);
  EXPECT_EQ(codes_of(node.judge()), "");
}

TEST(MissingGpu, MoreThanTheProfileIsTheProfilesFault) {
  Scenario node;
  node.profile->gpus = 4;
  EXPECT_EQ(severity_of(node.judge(), "gpu_extra"), Severity::kMonitor);
}

TEST(MissingGpu, NoProfileExpectsNothing) {
  Scenario node;
  node.take_out_of_driver(7);
  node.take_off_bus(7);
  node.forget_machine();
  EXPECT_EQ(codes_of(node.judge()), "");
}

TEST(MissingGpu, IsolatesAtOnceWithTheSeedProfile) {
  Scenario node;
  node.settings.is_seed_profile = true;
  node.take_out_of_driver(7);
  EXPECT_EQ(severity_of(node.judge(), "gpu_missing_unconfirmed"), Severity::kIsolate);
}

Scenario with_hang() {
  Scenario node;
  node.state = WorkerState::kHung;
  node.fault = "no answer for 20 s";
  node.hung_at = Scenario::bus_id(2) + " temperature";
  return node;
}

TEST(HungDriver, AloneIsAnErrorThatIsOnlyWatched) {
  const CheckOutcome outcome = with_hang().judge();
  EXPECT_EQ(outcome.kind, kError);
  EXPECT_EQ(severity_of(outcome, "driver_hung_unconfirmed"), Severity::kMonitor);
}

TEST(HungDriver, RebootsWhenTheKernelSaysSoOfTheSameGpu) {
  Scenario node = with_hang();
  node.kernel_has("xid", "119", Scenario::bus_id(1), Severity::kReset);
  EXPECT_EQ(severity_of(node.judge(), "driver_hung_unconfirmed"), Severity::kMonitor);
  node.kernel_has("xid", "119", Scenario::bus_id(2), Severity::kReset);
  EXPECT_EQ(severity_of(node.judge(), "driver_hung"), Severity::kReboot);
}

TEST(HungGpu, AloneIsOnlyWatchedAndTheOthersAreJudged) {
  Scenario node;
  node.gpu(3).is_hung = true;
  node.gpu(4).rows.failure = true;

  const CheckOutcome outcome = node.judge();

  EXPECT_EQ(severity_of(outcome, "driver_hung_unconfirmed"), Severity::kMonitor);
  EXPECT_EQ(severity_of(outcome, "row_remap_failure"), Severity::kIsolate);
  EXPECT_THAT(outcome.no_job, HasSubstr("driver_hung_unconfirmed on " + Scenario::bus_id(3)));
  const auto is_of_hung_gpu = [](const Untold& untold) {
    return untold.code.empty() && untold.pci_bus_id == Scenario::bus_id(3);
  };
  EXPECT_TRUE(std::ranges::any_of(outcome.untold, is_of_hung_gpu));
  EXPECT_FALSE(std::ranges::any_of(outcome.untold, [](const Untold& untold) {
    return untold.pci_bus_id.empty();
  })) << "findings of the others go when they are over";
}

TEST(HungGpu, IsWorthARebootWhenTheKernelSaysSoOfTheSameGpu) {
  Scenario node;
  node.gpu(3).is_hung = true;
  node.kernel_has("xid", "119", Scenario::bus_id(4), Severity::kReset);
  EXPECT_EQ(severity_of(node.judge(), "driver_hung_unconfirmed"), Severity::kMonitor);
  node.kernel_has("xid", "119", Scenario::bus_id(3), Severity::kReset);
  EXPECT_EQ(severity_of(node.judge(), "driver_hung"), Severity::kReboot);
}

TEST(HungEvents, AreOnlyWatched) {
  Scenario node;
  node.report.vendors.at(0).has_hung_events = true;
  EXPECT_EQ(severity_of(node.judge(), "events_hung"), Severity::kMonitor);
}

TEST(HungDriver, AnXidOfAnApplicationIsNoSecondSource) {
  Scenario node = with_hang();
  node.kernel_has("xid", "31", Scenario::bus_id(2), Severity::kMonitor);
  node.kernel_has("xid", "48", Scenario::bus_id(2), Severity::kReset);
  EXPECT_EQ(severity_of(node.judge(), "driver_hung_unconfirmed"), Severity::kMonitor);
}

TEST(HungDriver, IsolatesWhenARebootHasNotHelped) {
  Scenario node = with_hang();
  node.on_bus(2).is_dead = true;
  node.was_found_before_the_reboot("driver_hung", "");
  EXPECT_EQ(severity_of(node.judge(), "driver_hung"), Severity::kIsolate);
}

TEST(HungDriver, TakesNothingAwayThatWasKnown) {
  const CheckOutcome outcome = with_hang().judge();
  ASSERT_EQ(outcome.untold.size(), 1U);
  EXPECT_TRUE(outcome.untold[0].covers({}));
}

// LESSONS 4: monitor down = node replaced (containers-roadmap #2555).
TEST(MonitorDownIsNodeReplaced, NotHereACrashedWorkerIsNeverAboveMonitor) {
  Scenario node;
  node.state = WorkerState::kCrashed;
  node.kernel_has("xid", "79", Scenario::bus_id(2), Severity::kReboot);
  const CheckOutcome outcome = node.judge();
  EXPECT_EQ(outcome.kind, kError);
  EXPECT_EQ(codes_of(outcome), "worker_crashed");
  EXPECT_EQ(outcome.findings[0].severity, Severity::kMonitor);
}

TEST(MonitorDownIsNodeReplaced, NotHereALibraryThatDoesNotWorkIsAnError) {
  for (const LibraryState state : {LibraryState::kAbsent, LibraryState::kUnusable}) {
    Scenario node;
    node.report.vendors[0] = {};
    node.report.vendors[0].state = state;
    node.report.vendors[0].fault = "Driver/library version mismatch";
    const CheckOutcome outcome = node.judge();
    EXPECT_EQ(outcome.kind, kError);
    EXPECT_EQ(codes_of(outcome), "library_unusable");
    EXPECT_EQ(outcome.findings[0].severity, Severity::kMonitor);
    EXPECT_EQ(decide_status(outcome, "gpu", {}).status, CheckStatus::kError);
  }
}

TEST(MonitorDownIsNodeReplaced, ButWithTheSeedProfileItIsIsolateAsThere) {
  Scenario node;
  node.settings.is_seed_profile = true;
  node.report.vendors[0] = {};
  node.report.vendors[0].state = LibraryState::kUnusable;
  EXPECT_EQ(severity_of(node.judge(), "library_unusable"), Severity::kIsolate);
}

TEST(Library, ThatIsNotThereIfNoGpuIsIsNoError) {
  Scenario node(0);
  node.report.vendors[0] = {};
  node.profile.reset();
  EXPECT_EQ(node.judge().kind, kSkipped);
}

// The worker leaves a vendor without a library out of its report.
TEST(Library, ThatIsNotThereIfGpusAreIsAnErrorAndNoJobStarts) {
  Scenario node;
  node.report.vendors.clear();
  node.profile.reset();
  const CheckOutcome outcome = node.judge();
  EXPECT_EQ(outcome.kind, kError);
  EXPECT_EQ(codes_of(outcome), "library_unusable");
  EXPECT_EQ(outcome.findings.at(0).severity, Severity::kMonitor);
  EXPECT_THAT(outcome.findings.at(0).line, HasSubstr("8 GPUs on the PCI bus"));
  EXPECT_NE(outcome.no_job, "");
}

TEST(Library, ThatIsNotThereIfTheProfileHasGpusIsAnErrorAndNoJobStarts) {
  Scenario node(0);
  node.report.vendors.clear();
  node.profile->gpus = 8;
  const CheckOutcome outcome = node.judge();
  EXPECT_EQ(outcome.kind, kError);
  EXPECT_EQ(codes_of(outcome), "library_unusable, gpu_missing_unconfirmed");
  EXPECT_NE(outcome.no_job, "");
}

TEST(Library, OfAmdThatIsNotThereIfAmdGpusAreIsAnError) {
  Scenario node(0);
  node.report.vendors.clear();
  node.profile.reset();
  node.facts.pci_gpus->push_back({.vendor = Vendor::kAmd, .bus_id = "0000:c1:00", .driver = ""});
  const CheckOutcome outcome = node.judge();
  EXPECT_EQ(outcome.kind, kError);
  EXPECT_EQ(codes_of(outcome), "library_unusable");
  EXPECT_THAT(outcome.findings.at(0).line, HasSubstr("amdgpu"));
}

TEST(Library, OfNvidiaIsNotMissedIfTheProfileCountsAmdGpus) {
  Scenario node = amd_scenario_node();
  node.profile = InstanceProfile{"Standard_ND96isr_MI300X_v5", 1, 0, false, "efa"};
  EXPECT_EQ(node.judge().kind, kDone);
  EXPECT_EQ(codes_of(node.judge()), "");
  node.report.vendors.clear();
  EXPECT_EQ(codes_of(node.judge()), "library_unusable") << "of AMD alone";
}

// The graphics of a processor, or a card for a screen.
TEST(Library, IsNotMissedForADisplayBesideGpusOfAnotherVendor) {
  Scenario node;
  node.facts.pci_gpus->push_back(
      {.vendor = Vendor::kAmd, .bus_id = "0000:c1:00", .driver = "", .is_display = true});
  EXPECT_EQ(node.judge().kind, kDone);
  node.report.vendors.clear();
  node.facts.pci_gpus->erase(node.facts.pci_gpus->begin(), node.facts.pci_gpus->begin() + 8);
  node.profile.reset();
  EXPECT_EQ(node.judge().kind, kError) << "the only GPU may be one for work";
}

TEST(Library, IsNotMissedIfNoGpuIs) {
  Scenario node(0);
  node.report.vendors.clear();
  node.profile.reset();
  EXPECT_EQ(node.judge().kind, kSkipped);
  EXPECT_EQ(node.judge().no_job, "");
  node.facts.pci_gpus.reset();
  EXPECT_EQ(node.judge().kind, kSkipped) << "nothing at all speaks of a GPU";
}

TEST(Library, ThatDoesNotWorkIfNoGpuIsIsNoError) {
  Scenario node(0);
  node.report.vendors[0] = {};
  node.report.vendors[0].state = LibraryState::kUnusable;
  node.report.vendors[0].fault = "nvmlInit_v2: Driver Not Loaded";
  node.profile.reset();
  EXPECT_EQ(node.judge().kind, kSkipped);
  node.facts.pci_gpus.reset();
  EXPECT_EQ(codes_of(node.judge()), "library_unusable") << "nobody knows whether there are GPUs";
}

TEST(Library, ThatIsNotThereBesideGpusOfAVirtualMachineIsNoError) {
  Scenario node;
  node.report.vendors[0] = {};
  node.profile.reset();
  for (std::size_t gpu = 0; gpu < 8; ++gpu) node.on_bus(gpu).driver = "vfio-pci";
  EXPECT_EQ(node.judge().kind, kSkipped);
}

TEST(Library, ACardLostWithTheDriverIsToldFromALostDriver) {
  Scenario node;
  node.known.machine.most.clear();
  node.report.vendors[0] = {};
  node.report.vendors[0].state = LibraryState::kUnusable;
  node.take_off_bus(7);
  EXPECT_EQ(severity_of(node.judge(), "gpu_missing_unconfirmed"), Severity::kMonitor);
  node.kernel_has("xid", "79", Scenario::bus_id(7), Severity::kReboot);
  EXPECT_EQ(severity_of(node.judge(), "gpu_missing"), Severity::kReboot);
}

TEST(Reading, ThatHasNotComeYetIsAnError) {
  Scenario node;
  node.state = WorkerState::kStarting;
  EXPECT_EQ(node.judge().kind, kError);
  EXPECT_EQ(codes_of(node.judge()), "");
}

TEST(GpuRules, AnAmdGpuThatTheKernelHasLostTooIsLost) {
  for (const char* code : {"off_bus", "resume_failed", "init_failed", "probe_failed"}) {
    Scenario node = amd_scenario_node();
    node.gpu(0).is_lost = true;
    EXPECT_EQ(codes_of(node.judge()), "gpu_lost_unconfirmed");
    node.kernel_has("amd_lost", code, "0000:05:00", Severity::kMonitor);
    EXPECT_EQ(codes_of(node.judge()), "gpu_lost") << code;
  }
}

// An exporter that starts after the loss has never learned the address.
TEST(LostGpu, WithoutAnAddressIsTheOneThatTheBusHasLost) {
  Scenario node;
  node.gpu(3).gpu.pci = {};
  node.gpu(3).is_lost = true;
  node.gpu(3).fault = "GPU is lost";
  EXPECT_EQ(severity_of(node.judge(), "gpu_undriven"), Severity::kNone);
  node.on_bus(3).is_dead = true;
  EXPECT_EQ(severity_of(node.judge(), "gpu_undriven"), Severity::kReboot);
}

}  // namespace
}  // namespace gpuward::exporter
