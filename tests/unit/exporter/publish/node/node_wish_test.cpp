#include "exporter/publish/node/node_wish.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "core/xid/catalogue.h"
#include "tests/unit/exporter/publish/node/snapshots.h"

namespace gpuward::exporter {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;
using ::testing::StartsWith;

TEST(NodeWish, OfAHealthyNodePassesAndClearsTheTaint) {
  const NodeWish wish = wish_of(healthy());
  EXPECT_EQ(wish.status, NodeStatus::kPass);
  EXPECT_EQ(wish.severity, Severity::kNone);
  EXPECT_EQ(wish.taint, TaintWish::kClear);
  EXPECT_EQ(wish.condition, "False");
  EXPECT_EQ(wish.reason, "GPUsAreUp");
  EXPECT_EQ(wish.message, "8 GPUs are up");
  EXPECT_EQ(wish.last_check, kNoon);
}

TEST(NodeWish, TaintsFromResetUp) {
  for (const Severity severity : {Severity::kReset, Severity::kReboot, Severity::kIsolate}) {
    Snapshot snapshot = healthy();
    add_finding(snapshot, "79", severity, "0000:13:00");
    const NodeWish wish = wish_of(snapshot);
    EXPECT_EQ(wish.status, NodeStatus::kFail);
    EXPECT_EQ(wish.severity, severity);
    EXPECT_EQ(wish.taint, TaintWish::kSet);
    EXPECT_EQ(wish.condition, "True");
    EXPECT_EQ(wish.reason, "GPUsAreDown");
  }
}

// CONTRACTS A: fail if any has failed, else warn, else pass; the worst severity.
TEST(NodeWish, FailWinsOverWarnAndTheWorstSeverityIsTheNodes) {
  Snapshot snapshot = healthy();
  EXPECT_EQ(wish_of(snapshot).status, NodeStatus::kPass);
  add_finding(snapshot, "31", Severity::kMonitor, "0000:11:00");
  EXPECT_EQ(wish_of(snapshot).status, NodeStatus::kWarn);
  EXPECT_EQ(wish_of(snapshot).severity, Severity::kMonitor);
  for (const auto& [code, severity] :
       {std::pair("48", Severity::kReset), std::pair("54", Severity::kIsolate),
        std::pair("79", Severity::kReboot)}) {
    add_finding(snapshot, code, severity, "0000:13:00");
    EXPECT_EQ(wish_of(snapshot).status, NodeStatus::kFail);
  }
  EXPECT_EQ(wish_of(snapshot).severity, Severity::kIsolate);
}

// In the replaced suite, faults of programs took nodes out of service, and they stayed out.
TEST(NodeWish, Xid31And13NeverTaint) {
  Snapshot snapshot = healthy();
  for (const std::uint32_t code : {13U, 31U}) {
    xid::Event event;
    event.code = code;
    add_finding(snapshot, std::to_string(code), xid::Catalogue().judge(event).severity,
                "0000:13:00", ClearedBy::kAge);
  }
  ASSERT_EQ(snapshot.state.findings.size(), 2U);
  EXPECT_EQ(wish_of(snapshot).taint, TaintWish::kClear);
  EXPECT_EQ(wish_of(snapshot).condition, "False");
}

TEST(NodeWish, AWarningNeverTaints) {
  Snapshot snapshot = healthy();
  add_finding(snapshot, "31", Severity::kMonitor, "0000:13:00");
  add_result(snapshot, "0-nvidia-smi", CheckStatus::kWarn, Severity::kMonitor);
  const NodeWish wish = wish_of(snapshot);
  EXPECT_EQ(wish.status, NodeStatus::kWarn);
  EXPECT_EQ(wish.severity, Severity::kMonitor);
  EXPECT_EQ(wish.taint, TaintWish::kClear);
  EXPECT_EQ(wish.condition, "False");
  EXPECT_EQ(wish.message, "8 GPUs are up; findings of severity monitor: 1");
}

TEST(NodeWish, ErrorNeverPassesAndLeavesTheTaintAsItIs) {
  Snapshot snapshot = healthy();
  add_result(snapshot, "3-topology-check", CheckStatus::kError);
  const NodeWish wish = wish_of(snapshot);
  EXPECT_EQ(wish.status, NodeStatus::kWarn);
  EXPECT_EQ(wish.severity, Severity::kMonitor);
  EXPECT_EQ(wish.taint, TaintWish::kLeave);
  EXPECT_EQ(wish.condition, "Unknown");
  EXPECT_EQ(wish.reason, "GPUsUnknown");
  EXPECT_EQ(wish.message, "3-topology-check was inconclusive: no answer");
}

TEST(NodeWish, AFailureBesideAnErrorWins) {
  Snapshot snapshot = healthy();
  add_result(snapshot, "3-topology-check", CheckStatus::kError);
  add_finding(snapshot, "48", Severity::kReset);
  const NodeWish wish = wish_of(snapshot);
  EXPECT_EQ(wish.status, NodeStatus::kFail);
  EXPECT_EQ(wish.taint, TaintWish::kSet);
  EXPECT_EQ(wish.condition, "True");
}

// LESSONS 4: a node was replaced because its monitor had failed.
TEST(NodeWish, MonitorDownIsNotANodeReplaced) {
  Snapshot snapshot = healthy(0);
  snapshot.telemetry.state = WorkerState::kCrashed;
  snapshot.health.kernel_log_fault = "permission denied";
  for (const char* check : {"0-nvidia-smi", "2-efa-enumeration", "3-topology-check"})
    add_result(snapshot, check, CheckStatus::kError);
  const NodeWish wish = wish_of(snapshot);
  EXPECT_LE(wish.severity, Severity::kMonitor);
  EXPECT_NE(wish.taint, TaintWish::kSet);
  EXPECT_EQ(wish.condition, "Unknown");
}

// CONTRACTS A: if nothing could be read, the result is fail and RESET. gpuward does so in the seed
// profile alone.
TEST(NodeWish, NothingCouldBeReadFailsInTheSeedProfileAlone) {
  Snapshot snapshot = log_read();
  snapshot.instance.gpus_on_pci = 8;
  for (const char* check : {"0-nvidia-smi", "2-efa-enumeration"})
    add_result(snapshot, check, CheckStatus::kError);
  EXPECT_EQ(wish_of(snapshot).status, NodeStatus::kWarn);
  EXPECT_EQ(wish_of(snapshot).taint, TaintWish::kLeave);
  const NodeWish seed = wish_of(snapshot, UntoldNode::kFails);
  EXPECT_EQ(seed.status, NodeStatus::kFail);
  EXPECT_EQ(seed.severity, Severity::kReset);
  EXPECT_EQ(seed.taint, TaintWish::kSet);
  EXPECT_EQ(seed.condition, "True");
  EXPECT_EQ(seed.message, "RESET: 0-nvidia-smi was inconclusive: no answer");
  add_result(snapshot, "2-efa-enumeration", CheckStatus::kPass);
  EXPECT_EQ(wish_of(snapshot, UntoldNode::kFails).status, NodeStatus::kWarn);
  EXPECT_EQ(wish_of(log_read(), UntoldNode::kFails).status, NodeStatus::kUnknown);
}

// The exporter in its first second, and for a minute beside a driver that hangs.
Snapshot starting() {
  Snapshot snapshot = log_read();
  snapshot.instance.gpus_on_pci = 8;
  add_result(snapshot, "gpu", CheckStatus::kError);
  return snapshot;
}

TEST(NodeWish, SaysNothingBeforeTheDriverHasAnswered) {
  for (const UntoldNode untold : {UntoldNode::kWarns, UntoldNode::kFails}) {
    const NodeWish wish = wish_of(starting(), untold);
    EXPECT_EQ(wish.status, NodeStatus::kUnknown);
    EXPECT_EQ(wish.severity, Severity::kNone);
    EXPECT_EQ(wish.taint, TaintWish::kLeave);
    EXPECT_EQ(wish.condition, "") << "the node keeps what it says";
  }
}

TEST(NodeWish, SaysBeforeTheDriverHasAnsweredWhatTheKernelLogHas) {
  Snapshot snapshot = starting();
  add_finding(snapshot, "79", Severity::kReboot);
  EXPECT_EQ(wish_of(snapshot).status, NodeStatus::kFail);
  EXPECT_EQ(wish_of(snapshot).taint, TaintWish::kSet);
  EXPECT_EQ(wish_of(snapshot).condition, "True");
}

// Its first start on a node that another system or an earlier exporter has tainted.
TEST(NodeWish, TakesNothingAwayBeforeEachQuickCheckHasAResult) {
  Snapshot snapshot = healthy();
  snapshot.health.awaited = {"2-efa-enumeration"};
  for (const UntoldNode untold : {UntoldNode::kWarns, UntoldNode::kFails}) {
    const NodeWish wish = wish_of(snapshot, untold);
    EXPECT_EQ(wish.status, NodeStatus::kUnknown);
    EXPECT_EQ(wish.taint, TaintWish::kLeave);
    EXPECT_EQ(wish.condition, "") << "the node keeps what it says";
  }
  add_finding(snapshot, "79", Severity::kReboot);
  EXPECT_EQ(wish_of(snapshot).taint, TaintWish::kSet);
  EXPECT_EQ(wish_of(snapshot).condition, "True");
}

TEST(NodeWish, PassesNoNodeWhoseKernelLogCannotBeRead) {
  Snapshot snapshot = healthy();
  snapshot.health.kernel_log_fault = "open /dev/kmsg: Operation not permitted";
  const NodeWish wish = wish_of(snapshot);
  EXPECT_EQ(wish.status, NodeStatus::kWarn);
  EXPECT_EQ(wish.taint, TaintWish::kLeave);
  EXPECT_EQ(wish.condition, "Unknown");
  EXPECT_EQ(wish.message, "the kernel log cannot be read: open /dev/kmsg: Operation not permitted");
  add_finding(snapshot, "79", Severity::kReboot);
  EXPECT_EQ(wish_of(snapshot).taint, TaintWish::kSet);
}

TEST(NodeWish, WaitsForTheFirstReadingOfTheKernelLog) {
  Snapshot snapshot = healthy();
  snapshot.health.kernel_log_fault = std::string(Health::kNotReadYet);
  EXPECT_EQ(wish_of(snapshot).status, NodeStatus::kUnknown);
  EXPECT_EQ(wish_of(snapshot).taint, TaintWish::kLeave);
}

TEST(NodeWish, LeavesTheNodeAsItIsWhileTheGpusAreReleased) {
  Snapshot snapshot = healthy();
  snapshot.health.release = GpuRelease{"a Job", "a reset", kNoon};
  EXPECT_EQ(wish_of(snapshot).status, NodeStatus::kUnknown);
  EXPECT_EQ(wish_of(snapshot).taint, TaintWish::kLeave);
  EXPECT_EQ(wish_of(snapshot).condition, "");
  for (auto& [name, result] : snapshot.state.checks) result.status = CheckStatus::kSkip;
  add_result(snapshot, "gpu", CheckStatus::kSkip);
  EXPECT_FALSE(wish_of(snapshot).is_withdrawn);
  add_finding(snapshot, "79", Severity::kReboot);
  EXPECT_EQ(wish_of(snapshot).taint, TaintWish::kSet) << "the kernel log is read on";
}

TEST(NodeWish, SaysThatNobodyCanTellWithoutWaitingForTheOtherChecks) {
  Snapshot snapshot = starting();
  snapshot.telemetry.state = WorkerState::kHung;
  snapshot.health.awaited = {"2-efa-enumeration"};
  EXPECT_EQ(wish_of(snapshot).status, NodeStatus::kWarn);
  EXPECT_EQ(wish_of(snapshot).condition, "Unknown");
  EXPECT_EQ(wish_of(snapshot, UntoldNode::kFails).status, NodeStatus::kWarn)
      << "not every check could not tell: one has not run";
}

// Its result is from before the reboot, or of the program that ran first.
TEST(NodeWish, AnErrorDoesNotEndTheWaitForTheOtherChecks) {
  Snapshot snapshot = healthy();
  add_result(snapshot, "3-topology-check", CheckStatus::kError);
  snapshot.health.awaited = {"2-efa-enumeration"};
  EXPECT_EQ(wish_of(snapshot).status, NodeStatus::kUnknown);
  EXPECT_EQ(wish_of(snapshot).condition, "");
}

TEST(NodeWish, IsNotWithdrawnBeforeEachQuickCheckHasAResult) {
  Snapshot snapshot = log_read();
  snapshot.telemetry.state = WorkerState::kAnswering;
  add_result(snapshot, "gpu", CheckStatus::kSkip);
  snapshot.health.awaited = {"2-efa-enumeration"};
  EXPECT_FALSE(wish_of(snapshot).is_withdrawn);
}

TEST(NodeWish, SaysThatNobodyCanTellOnceTheDriverHasHungOrEnded) {
  for (const WorkerState state : {WorkerState::kHung, WorkerState::kCrashed}) {
    Snapshot snapshot = starting();
    snapshot.telemetry.state = state;
    EXPECT_EQ(wish_of(snapshot).status, NodeStatus::kWarn);
    EXPECT_EQ(wish_of(snapshot).condition, "Unknown");
    EXPECT_EQ(wish_of(snapshot, UntoldNode::kFails).status, NodeStatus::kFail);
  }
}

// On a machine without a PCI bus, check 2 can never find out.
TEST(NodeWish, OfANodeWithoutGpusNeverFailsInTheSeedProfile) {
  Snapshot snapshot = log_read();
  snapshot.telemetry.state = WorkerState::kAnswering;
  add_result(snapshot, "gpu", CheckStatus::kSkip);
  add_result(snapshot, "2-efa-enumeration", CheckStatus::kError);
  const NodeWish wish = wish_of(snapshot, UntoldNode::kFails);
  EXPECT_EQ(wish.status, NodeStatus::kWarn);
  EXPECT_NE(wish.taint, TaintWish::kSet);
  snapshot.state.machine.most[Vendor::kNvidia] = 8;
  EXPECT_EQ(wish_of(snapshot, UntoldNode::kFails).status, NodeStatus::kFail);
}

TEST(NodeWish, IsWithdrawnOnceEveryCheckWasSkipped) {
  Snapshot snapshot = log_read();
  EXPECT_FALSE(wish_of(snapshot).is_withdrawn);
  add_result(snapshot, "gpu", CheckStatus::kSkip);
  add_result(snapshot, "0-nvidia-smi", CheckStatus::kSkip);
  EXPECT_TRUE(wish_of(snapshot).is_withdrawn);
  add_finding(snapshot, "31", Severity::kMonitor);
  EXPECT_FALSE(wish_of(snapshot).is_withdrawn);
  EXPECT_FALSE(wish_of(healthy()).is_withdrawn);
}

TEST(NodeWish, SaysNothingBeforeAnythingWasLookedAt) {
  const NodeWish wish = wish_of(log_read());
  EXPECT_EQ(wish.status, NodeStatus::kUnknown);
  EXPECT_EQ(wish.taint, TaintWish::kLeave);
  EXPECT_EQ(wish.condition, "Unknown");
}

TEST(NodeWish, ANodeWhereAllChecksWereSkippedIsNotCleared) {
  Snapshot snapshot = log_read();
  add_result(snapshot, "0-nvidia-smi", CheckStatus::kSkip);
  const NodeWish wish = wish_of(snapshot);
  EXPECT_EQ(wish.status, NodeStatus::kUnknown);
  EXPECT_EQ(wish.taint, TaintWish::kLeave);
}

TEST(NodeWish, AFindingOfTheKernelLogNeedsNoCheckToTaint) {
  Snapshot snapshot = log_read();
  add_finding(snapshot, "79", Severity::kReboot);
  EXPECT_EQ(wish_of(snapshot).taint, TaintWish::kSet);
}

// After a reboot a check's finding has severity none until the check has run again.
TEST(NodeWish, AMemoryOfAnotherBootClearsNothing) {
  Snapshot snapshot = healthy();
  add_finding(snapshot, "gpu_missing", Severity::kNone, "", ClearedBy::kCheck);
  const NodeWish wish = wish_of(snapshot);
  EXPECT_EQ(wish.status, NodeStatus::kWarn);
  EXPECT_EQ(wish.taint, TaintWish::kLeave);
  EXPECT_EQ(wish.condition, "Unknown");
  EXPECT_THAT(
      wish.message,
      HasSubstr(" has found gpu_missing before this boot and has reported no result for it since"));
}

CheckLine line_of(const Snapshot& snapshot, std::string_view check) {
  const std::vector<CheckLine> checks = wish_of(snapshot).checks;
  const auto found = std::ranges::find(checks, check, &CheckLine::check);
  return found == checks.end() ? CheckLine() : *found;
}

// Check 0 runs every five minutes. The findings that it reports come and go between its runs.
TEST(NodeWish, TheChecksOfTheResultsAgreeWithTheNodesSeverityBetweenTwoRuns) {
  Snapshot snapshot = healthy();
  add_finding(snapshot, "54", Severity::kIsolate, "0000:13:00");

  EXPECT_EQ(wish_of(snapshot).severity, Severity::kIsolate);
  EXPECT_EQ(line_of(snapshot, "0-nvidia-smi"),
            (CheckLine{"0-nvidia-smi", CheckStatus::kFail, Severity::kIsolate}));
  EXPECT_EQ(line_of(snapshot, "3-topology-check").status, CheckStatus::kPass);

  add_result(snapshot, "0-nvidia-smi", CheckStatus::kFail, Severity::kIsolate);  // its next run
  snapshot.state.findings.clear();                                               // `findings clear`

  EXPECT_EQ(wish_of(snapshot).status, NodeStatus::kPass);
  EXPECT_EQ(line_of(snapshot, "0-nvidia-smi"),
            (CheckLine{"0-nvidia-smi", CheckStatus::kPass, Severity::kNone}));
}

TEST(NodeWish, TheConditionOfANodeWithoutGpusIsUnknown) {
  const NodeWish wish = wish_of(healthy(0));
  EXPECT_EQ(wish.condition, "Unknown");
  EXPECT_EQ(wish.message, "no GPU is known on this node");
}

TEST(NodeWish, NamesTheWorstFirstInTheCondition) {
  Snapshot snapshot = healthy();
  add_finding(snapshot, "48", Severity::kReset, "0000:11:00");
  add_finding(snapshot, "79", Severity::kReboot, "0000:13:00");
  EXPECT_THAT(
      wish_of(snapshot).message,
      AllOf(StartsWith("REBOOT: xid 79 on 0000:13:00 (GPU 3): what was seen; RESET: xid 48"),
            Not(HasSubstr("more"))));
  for (const char* code : {"95", "109", "119"}) add_finding(snapshot, code, Severity::kReset);
  EXPECT_THAT(wish_of(snapshot).message, HasSubstr("; 2 more"));
}

TEST(NodeWish, TheConditionsTextIsBounded) {
  Snapshot snapshot = healthy();
  add_finding(snapshot, std::string(600, 'x'), Severity::kReset);
  add_finding(snapshot, std::string(601, 'y'), Severity::kReset);
  EXPECT_LE(wish_of(snapshot).message.size(), 1024U);
}

TEST(NodeWish, SaysOfEachAmdGpuWhetherItIsHealthy) {
  Snapshot snapshot = healthy(0);
  snapshot.gpus = {gpu_at(0, Vendor::kAmd), gpu_at(1, Vendor::kAmd), gpu_at(2)};
  EXPECT_THAT(wish_of(snapshot).amd_gpus_healthy, IsEmpty()) << "not read yet";
  report_gpus(snapshot);
  add_finding(snapshot, "umc", Severity::kIsolate, "0000:11:00");
  add_finding(snapshot, "umc", Severity::kMonitor, "0000:10:00");
  add_finding(snapshot, "79", Severity::kReboot, "0000:12:00");
  EXPECT_THAT(wish_of(snapshot).amd_gpus_healthy, ElementsAre(Pair("0", true), Pair("1", false)));
}

// AMD's health service reports the same. It adds nothing to the severity of the node.
TEST(NodeWish, CallsAmdGpusUnhealthyThatTheDriverSaysNothingOf) {
  Snapshot snapshot = healthy(0);
  snapshot.gpus = {gpu_at(1, Vendor::kAmd)};
  snapshot.gone_gpus = {gpu_at(0, Vendor::kAmd)};
  report_gpus(snapshot);
  EXPECT_THAT(wish_of(snapshot).amd_gpus_healthy, ElementsAre(Pair("0", false), Pair("1", true)));
  snapshot.telemetry.state = WorkerState::kHung;
  EXPECT_THAT(wish_of(snapshot).amd_gpus_healthy, ElementsAre(Pair("0", false), Pair("1", false)));
}

// If one GPU was handed to vfio-pci, the driver gives the others new indexes.
TEST(NodeWish, CallsAnAmdGpuHealthyThatHasTheIndexOfOneThatIsGone) {
  Snapshot snapshot = healthy(0);
  snapshot.gpus = {gpu_at(0, Vendor::kAmd)};
  snapshot.gone_gpus = {gpu_at(1, Vendor::kAmd)};
  snapshot.gone_gpus[0].index = 0;
  report_gpus(snapshot);
  EXPECT_THAT(wish_of(snapshot).amd_gpus_healthy, ElementsAre(Pair("0", true)));
}

TEST(NodeWish, OnlyTimesMakeNoNews) {
  Snapshot later = healthy();
  add_result(later, "0-nvidia-smi", CheckStatus::kPass, Severity::kNone,
             kNoon + std::chrono::minutes(5));
  EXPECT_FALSE(differ_in_substance(wish_of(healthy()), wish_of(later)));
  add_finding(later, "31", Severity::kMonitor);
  EXPECT_TRUE(differ_in_substance(wish_of(healthy()), wish_of(later)));
}

}  // namespace
}  // namespace gpuward::exporter
