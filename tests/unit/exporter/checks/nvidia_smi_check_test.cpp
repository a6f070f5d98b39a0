#include "exporter/checks/rules/nvidia_smi_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exporter/checks/check/decide.h"
#include "tests/unit/exporter/checks/check_bench.h"

namespace gpuward::exporter {
namespace {

using ::testing::HasSubstr;

class NvidiaSmi : public ::testing::Test {
 protected:
  CheckResult result() { return decide_status(bench_.run(), "0-nvidia-smi", {}); }
  CheckBench bench_{nvidia_smi_entry()};
};

TEST_F(NvidiaSmi, PassesOnAHealthyNode) {
  const CheckResult passed = result();
  EXPECT_EQ(passed.status, CheckStatus::kPass);
  EXPECT_EQ(passed.details, "8 GPUs");
}

TEST_F(NvidiaSmi, SpeaksForXidsThatAreLatched) {
  bench_.node.kernel_has("xid", "79", Scenario::bus_id(2), Severity::kReboot);
  const CheckResult failed = result();
  EXPECT_EQ(failed.status, CheckStatus::kFail);
  EXPECT_EQ(failed.severity, Severity::kReboot);
  EXPECT_THAT(failed.details, HasSubstr("xid 79 on " + Scenario::bus_id(2) + " (reboot)"));
  EXPECT_TRUE(failed.findings.empty());  // they are the kernel log's
}

// These have results of their own.
TEST_F(NvidiaSmi, DoesNotSpeakForProgramsRulesAndAnnouncements) {
  for (const char* check : {"ntp", "kernel_rule", "announcements", "npd"}) {
    bench_.node.kernel_has(check, "Wrong", "", Severity::kIsolate, Evidence::kMeasured);
  }
  const CheckResult passed = result();
  EXPECT_EQ(passed.status, CheckStatus::kPass);
  EXPECT_EQ(passed.details, "8 GPUs");
}

TEST_F(NvidiaSmi, SpeaksForEachKindOfLineOfADriver) {
  for (const char* check : {"xid", "sxid", "rm_init", "nvrm", "amd_ras", "amd_lost", "aer"}) {
    CheckBench bench{nvidia_smi_entry()};
    bench.node.kernel_has(check, "x", Scenario::bus_id(2), Severity::kReset);
    EXPECT_EQ(decide_status(bench.run(), "0-nvidia-smi", {}).severity, Severity::kReset) << check;
  }
}

TEST_F(NvidiaSmi, Xid54AndPersistenceOffStayIsolate) {
  bench_.node.kernel_has("xid", "54", Scenario::bus_id(2), Severity::kIsolate);
  bench_.node.gpu(0).persistence_mode = false;
  EXPECT_EQ(result().severity, Severity::kIsolate);
  EXPECT_EQ(result().status, CheckStatus::kFail);
}

TEST_F(NvidiaSmi, Xid54AndUncorrectedEccStayIsolate) {
  bench_.node.kernel_has("xid", "54", Scenario::bus_id(2), Severity::kIsolate);
  bench_.node.gpu(0).ecc.uncorrected_volatile.total = 1;
  EXPECT_EQ(result().severity, Severity::kIsolate);
}

TEST_F(NvidiaSmi, Xid31AloneWarnsInsteadOfPassing) {
  bench_.node.kernel_has("xid", "31", Scenario::bus_id(2), Severity::kMonitor);
  EXPECT_EQ(result().status, CheckStatus::kWarn);
}

TEST_F(NvidiaSmi, Xid79AndAnSxidStayReboot) {
  bench_.node.kernel_has("xid", "79", Scenario::bus_id(2), Severity::kReboot);
  bench_.node.kernel_has("sxid", "20034", "0000:05:00", Severity::kMonitor);
  EXPECT_EQ(result().severity, Severity::kReboot);
  EXPECT_EQ(result().status, CheckStatus::kFail);
}

TEST_F(NvidiaSmi, AFatalSxidAloneFailsInsteadOfPassing) {
  bench_.node.kernel_has("sxid", "20034", "0000:05:00", Severity::kReset);
  EXPECT_EQ(result().severity, Severity::kReset);
  EXPECT_EQ(result().status, CheckStatus::kFail);
}

TEST_F(NvidiaSmi, NamesTheSwitchIfAnSxidComesWithXid74) {
  bench_.node.kernel_has("xid", "74", Scenario::bus_id(2), Severity::kReset);
  EXPECT_THAT(result().details, ::testing::Not(HasSubstr("NVSwitch")));
  bench_.node.kernel_has("sxid", "12028", "0000:05:00", Severity::kMonitor);
  EXPECT_THAT(result().details, HasSubstr("the NVSwitch is the likely cause"));
}

TEST_F(NvidiaSmi, AMissingGpuStillShowsTheXidThatExplainsIt) {
  bench_.node.take_out_of_driver(7);
  bench_.host.falls_off_the_bus(Scenario::bus_id(7) + ".0");
  bench_.node.kernel_has("xid", "79", Scenario::bus_id(7), Severity::kReboot);
  const CheckResult failed = result();
  EXPECT_EQ(failed.severity, Severity::kReboot);
  EXPECT_THAT(failed.details, HasSubstr("gpu_undriven on " + Scenario::bus_id(7)));
  EXPECT_THAT(failed.details, HasSubstr("xid 79"));
}

TEST_F(NvidiaSmi, AnUnknownInstanceTypeIsSaidAloudAndIsNoFindingOnTheNode) {
  bench_.node.forget_machine();
  bench_.node.take_out_of_driver(7);
  bench_.host.loses_pci(Scenario::bus_id(7) + ".0");
  const CheckResult passed = result();
  EXPECT_EQ(passed.status, CheckStatus::kPass);
  EXPECT_EQ(passed.severity, Severity::kNone);
  EXPECT_THAT(passed.details, HasSubstr("instance type x9.metal has no profile"));
  EXPECT_TRUE(passed.findings.empty());
}

TEST_F(NvidiaSmi, LibraryThatDoesNotWorkIsAnErrorAndNotIsolate) {
  bench_.node.report.vendors[0] = {};
  bench_.node.report.vendors[0].state = LibraryState::kUnusable;
  bench_.node.report.vendors[0].fault = "Driver Not Loaded";
  EXPECT_EQ(result().status, CheckStatus::kError);
  EXPECT_LE(result().severity, Severity::kMonitor);
}

TEST_F(NvidiaSmi, SkipsIfNoGpuIsAndNoneIsExpected) {
  CheckBench empty(nvidia_smi_entry());
  for (std::size_t gpu = 0; gpu < 8; ++gpu) empty.host.loses_pci(Scenario::bus_id(gpu) + ".0");
  empty.node.report.vendors[0] = {};
  empty.node.forget_machine();
  EXPECT_EQ(empty.run().kind, CheckOutcome::Kind::kSkipped);
}

TEST_F(NvidiaSmi, ALostGpuWhoseBusDoesNotAnswerRebootsAndElseIsOnlyWatched) {
  bench_.node.gpu(4).is_lost = true;
  EXPECT_EQ(result().severity, Severity::kMonitor);
  bench_.host.falls_off_the_bus(Scenario::bus_id(4) + ".0");
  EXPECT_EQ(result().severity, Severity::kReboot);
}

TEST_F(NvidiaSmi, ExpectsSeedsOwnSeverityWithItsProfile) {
  bench_.node.settings.is_seed_profile = true;
  bench_.node.take_out_of_driver(7);
  EXPECT_EQ(result().severity, Severity::kIsolate);
}

// The vendor's CHECK_UVM, which a line of the kernel log cannot answer.
class Xid159 : public NvidiaSmi {
 protected:
  Xid159() {
    bench_.node.kernel_has("xid", "159", Scenario::bus_id(2), Severity::kMonitor);
    line().witness = "driver event";
    line().witnessed = Severity::kMonitor;
    bench_.host.with_process(2, "kthreadd").with_process(100, "python");
  }
  Finding& line() {
    return bench_.node.known.findings.at({"xid", "159", Scenario::bus_id(2), Evidence::kKernel});
  }
  void use_unified_memory() { bench_.host.with_open_file(100, "/dev/nvidia-uvm"); }
};

TEST_F(Xid159, ResetsOnlyIfNvidiaUvmIsInUse) {
  EXPECT_EQ(result().status, CheckStatus::kWarn);
  EXPECT_TRUE(result().findings.empty());
  use_unified_memory();
  const CheckResult failed = result();
  EXPECT_EQ(failed.status, CheckStatus::kFail);
  EXPECT_EQ(failed.severity, Severity::kReset);
  ASSERT_EQ(failed.findings.size(), 1U);
  EXPECT_EQ(failed.findings[0].code, "xid_159_uvm");
  EXPECT_EQ(failed.findings[0].pci_bus_id, Scenario::bus_id(2));
  // The end of the program clears nothing: the coherent bus stays as it is until the reset.
  EXPECT_EQ(failed.findings[0].cleared_by, ClearedBy::kGpuReset);
  EXPECT_THAT(failed.details, HasSubstr("python (pid 100)"));
}

// Otherwise one line, and any process that opens the device, would drain and reset the node.
TEST_F(Xid159, OfALineAloneAsksForNothing) {
  use_unified_memory();
  line().witness.clear();
  line().witnessed = Severity::kNone;
  const CheckResult watched = result();
  EXPECT_EQ(watched.status, CheckStatus::kWarn);
  EXPECT_EQ(watched.severity, Severity::kMonitor);
  EXPECT_TRUE(watched.findings.empty());
  EXPECT_THAT(watched.details, HasSubstr("Xid 159 on " + Scenario::bus_id(2) +
                                         " is not confirmed by a second source"));
}

// The replaced suite only ever watched it, because its image had neither fuser nor lsof.
TEST_F(Xid159, WhoUsesUnifiedMemoryIsReadFromProcAndElseSaidToBeUnknown) {
  bench_.host.remove("proc/2");
  const CheckResult untold = result();
  EXPECT_EQ(untold.status, CheckStatus::kWarn);
  EXPECT_THAT(untold.details, HasSubstr("needs hostPID"));
}

TEST_F(Xid159, OfAnotherNumberOrOfUserSpaceAsksForNothing) {
  use_unified_memory();
  bench_.node.known.findings.clear();
  bench_.node.kernel_has("xid", "158", Scenario::bus_id(2), Severity::kMonitor);
  bench_.node.kernel_has("xid", "159", Scenario::bus_id(3), Severity::kMonitor,
                         Evidence::kUserSpace);
  EXPECT_EQ(result().severity, Severity::kMonitor);
}

// `xid: {"159": {severity: none}}`
TEST_F(Xid159, ThatTheOperatorHasSilencedAsksForNothing) {
  use_unified_memory();
  bench_.node.known.findings.clear();
  bench_.node.kernel_has("xid", "159", Scenario::bus_id(2), Severity::kNone);
  EXPECT_EQ(result().status, CheckStatus::kPass);
}

}  // namespace
}  // namespace gpuward::exporter
