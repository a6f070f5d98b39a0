#include "core/xid/catalogue.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/core/xid/events.h"

namespace gpuward::xid {
namespace {

Event recovery(std::uint32_t to) {
  auto event = xid(154);
  event.recovery_to = to;
  return event;
}

Event other(Kind kind, std::string label) {
  Event event;
  event.kind = kind;
  event.label = std::move(label);
  return event;
}

TEST(Catalogue, SaysThatAGpuOffTheBusNeedsAReboot) {
  const auto verdict = Catalogue().judge(xid(79));
  EXPECT_EQ(verdict.severity, Severity::kReboot);
  EXPECT_EQ(verdict.action, "RESTART_BM");
  EXPECT_EQ(verdict.cleared_by, ClearedBy::kReboot);
  EXPECT_EQ(verdict.source, "table");
  EXPECT_TRUE(verdict.known);
  EXPECT_FALSE(verdict.why.empty());
  ASSERT_NE(verdict.row, nullptr);
  EXPECT_EQ(verdict.row->code, 79U);
}

TEST(Catalogue, NeedsAResetAfterAnErrorOfALink) {
  EXPECT_EQ(Catalogue().judge(xid(74)).severity, Severity::kReset);
  EXPECT_EQ(Catalogue().judge(xid(74)).cleared_by, ClearedBy::kGpuReset);
}

TEST(Catalogue, WatchesANumberOfNoTableAndNeverActsOnIt) {
  const auto verdict = Catalogue().judge(xid(99999));
  EXPECT_EQ(verdict.severity, Severity::kMonitor);
  EXPECT_FALSE(verdict.known);
  EXPECT_EQ(verdict.row, nullptr);
}

TEST(Catalogue, WatchesWhatProgramsDo) {
  for (const std::uint32_t code : {13U, 31U, 43U, 94U}) {
    EXPECT_EQ(Catalogue().judge(xid(code)).severity, Severity::kMonitor) << code;
  }
}

TEST(Catalogue, MakesNothingOfAKilledProgram) {
  auto event = xid(45);
  event.caused_by_xid = 149;
  EXPECT_EQ(Catalogue().judge(event).severity, Severity::kNone);
}

TEST(Catalogue, DecidesWhenPeersDisagree) {
  const Catalogue catalogue;
  EXPECT_EQ(catalogue.judge(xid(46)).severity, Severity::kReset);
  EXPECT_EQ(catalogue.judge(xid(62)).severity, Severity::kReset);
  EXPECT_EQ(catalogue.judge(xid(63)).severity, Severity::kMonitor);
  EXPECT_EQ(catalogue.judge(xid(64)).severity, Severity::kIsolate);
  EXPECT_EQ(catalogue.judge(xid(64)).cleared_by, ClearedBy::kOperator);
  EXPECT_EQ(catalogue.judge(xid(109)).severity, Severity::kReset);
  EXPECT_EQ(catalogue.judge(xid(121)).severity, Severity::kMonitor);
}

TEST(Xid154Verdict, FollowsTheNewValue) {
  const Catalogue catalogue;
  EXPECT_EQ(catalogue.judge(recovery(1)).severity, Severity::kReset);
  EXPECT_EQ(catalogue.judge(recovery(2)).severity, Severity::kReboot);
  EXPECT_EQ(catalogue.judge(recovery(2)).cleared_by, ClearedBy::kReboot);
  EXPECT_EQ(catalogue.judge(recovery(3)).severity, Severity::kReset);
  EXPECT_EQ(catalogue.judge(recovery(4)).severity, Severity::kReset);
  EXPECT_EQ(catalogue.judge(recovery(5)).severity, Severity::kMonitor);
  EXPECT_EQ(catalogue.judge(recovery(2)).source, "driver");
}

TEST(Xid154Verdict, TakesNoneForARecovery) {
  const auto verdict = Catalogue().judge(recovery(0));
  EXPECT_EQ(verdict.severity, Severity::kNone);
  EXPECT_TRUE(verdict.clears);
}

TEST(Xid154Verdict, OnlyWatchesAValueThatNobodyKnows) {
  EXPECT_EQ(Catalogue().judge(recovery(77)).severity, Severity::kMonitor);
  EXPECT_EQ(Catalogue().judge(xid(154)).severity, Severity::kMonitor);
}

// The replaced suite rebooted a node whose GPU had just recovered.
TEST(Xid154Verdict, ARebootThatIsNoLongerAskedForIsNone) {
  const Event recovered = parsed(
      "NVRM: Xid (PCI:0000:4e:00): 154, GPU recovery action changed from 0x2 (Node Reboot "
      "Required) to 0x0 (None)");
  EXPECT_EQ(Catalogue().judge(recovered).severity, Severity::kNone);
  EXPECT_EQ(Catalogue({.profile = Profile::kSeed}).judge(recovered).severity, Severity::kMonitor);
}

// CONTRACTS A: by the words of the line.
TEST(Xid154Verdict, ReadsTheNewActionOffTheLine) {
  const auto judged = [](const std::string& to) {
    const Event event = parsed(
        "NVRM: Xid (PCI:0000:4e:00): 154, GPU recovery action changed from 0x0 (None) to " + to);
    return Catalogue().judge(event).severity;
  };
  EXPECT_EQ(judged("0x2 (Node Reboot Required)"), Severity::kReboot);
  EXPECT_EQ(judged("0x1 (GPU Reset Required)"), Severity::kReset);
  EXPECT_EQ(judged("0x4 (Drain and Reset)"), Severity::kReset);
  EXPECT_EQ(judged("0x3 (Drain P2P)"), Severity::kReset);
  EXPECT_EQ(judged("0x9 (Something New)"), Severity::kMonitor);
}

TEST(Catalogue, TakesPowerSmoothingThatIsBackForARecovery) {
  EXPECT_TRUE(Catalogue().judge(xid(162)).clears);
}

TEST(AmdVerdict, FollowsTheLabel) {
  const Catalogue catalogue;
  EXPECT_EQ(catalogue.judge(other(Kind::kAmdRas, "UE")).severity, Severity::kReboot);
  EXPECT_EQ(catalogue.judge(other(Kind::kAmdRas, "UE")).cleared_by, ClearedBy::kReboot);
  EXPECT_EQ(catalogue.judge(other(Kind::kAmdRas, "CE")).severity, Severity::kNone);
  EXPECT_EQ(catalogue.judge(other(Kind::kAmdHang, "ring_timeout")).severity, Severity::kReset);
  EXPECT_EQ(catalogue.judge(other(Kind::kAmdReset, "failed")).severity, Severity::kReboot);
  EXPECT_TRUE(catalogue.judge(other(Kind::kAmdReset, "succeeded")).clears);
  EXPECT_EQ(catalogue.judge(other(Kind::kAmdReset, "ring_reset_failed")).severity,
            Severity::kMonitor)
      << "the driver resets the GPU next";
}

TEST(AmdVerdict, DoesNotTrustACounterThatAFaultyDriverHasMoved) {
  auto event = other(Kind::kAmdRas, "UE");
  event.count = 1048560;
  EXPECT_EQ(Catalogue().judge(event).severity, Severity::kMonitor);
  event.count = 2U * 1048560;
  EXPECT_EQ(Catalogue().judge(event).severity, Severity::kMonitor);
}

TEST(HostVerdict, NeverActsOnTheNode) {
  const Catalogue catalogue;
  for (const auto& [kind, label] :
       std::initializer_list<std::pair<Kind, const char*>>{{Kind::kAer, "fatal"},
                                                           {Kind::kAer, "corrected"},
                                                           {Kind::kEdac, "UE"},
                                                           {Kind::kMce, "exception"},
                                                           {Kind::kRmInit, "0x22:0x56:894"},
                                                           {Kind::kPeermem, "invalid_context"}}) {
    EXPECT_LE(catalogue.judge(other(kind, label)).severity, Severity::kMonitor) << label;
    EXPECT_TRUE(catalogue.judge(other(kind, label)).known) << label;
  }
}

TEST(Override, ReplacesWhatItNames) {
  CatalogueOptions options;
  options.xid[79] = {
      .severity = Severity::kIsolate, .action = "REPLACE", .cleared_by = ClearedBy::kOperator};
  const auto verdict = Catalogue(options).judge(xid(79));
  EXPECT_EQ(verdict.severity, Severity::kIsolate);
  EXPECT_EQ(verdict.action, "REPLACE");
  EXPECT_EQ(verdict.cleared_by, ClearedBy::kOperator);
  EXPECT_EQ(verdict.source, "override");
}

TEST(Override, LeavesTheRest) {
  CatalogueOptions options;
  options.xid[79] = {.severity = Severity::kMonitor};
  const Catalogue catalogue{options};
  EXPECT_EQ(catalogue.judge(xid(79)).action, "RESTART_BM");
  EXPECT_EQ(catalogue.judge(xid(48)).severity, Severity::kReset);
}

TEST(Override, OfTheSeverityAloneIsClearedByNoLessThanItsAction) {
  CatalogueOptions options;
  options.xid[13] = {.severity = Severity::kReset};
  options.xid[48] = {.severity = Severity::kReboot};
  options.xid[119] = {.severity = Severity::kIsolate};
  options.xid[79] = {.severity = Severity::kMonitor};
  const Catalogue catalogue{options};
  EXPECT_EQ(catalogue.judge(xid(13)).cleared_by, ClearedBy::kGpuReset);
  EXPECT_EQ(catalogue.judge(xid(48)).cleared_by, ClearedBy::kReboot);
  EXPECT_EQ(catalogue.judge(xid(119)).cleared_by, ClearedBy::kOperator);
  EXPECT_EQ(catalogue.judge(xid(79)).cleared_by, ClearedBy::kReboot);
}

TEST(Override, MakesANumberOfNoTableKnown) {
  CatalogueOptions options;
  options.xid[4711] = {.severity = Severity::kReset};
  const auto verdict = Catalogue(options).judge(xid(4711));
  EXPECT_EQ(verdict.severity, Severity::kReset);
  EXPECT_TRUE(verdict.known);
}

TEST(Override, BeatsTheDriversAdvice) {
  CatalogueOptions options;
  options.xid[154] = {.severity = Severity::kMonitor};
  EXPECT_EQ(Catalogue(options).judge(recovery(2)).severity, Severity::kMonitor);
}

TEST(Override, OfAnXidLeavesTheSxidsAlone) {
  CatalogueOptions options;
  options.xid[20034] = {.severity = Severity::kIsolate};
  Event event;
  event.kind = Kind::kSxid;
  event.code = 20034;
  EXPECT_EQ(Catalogue(options).judge(event).severity, Severity::kReset);
}

TEST(XidPolicy, HasEveryXidOfTheTableAndTheOverridesInOrder) {
  CatalogueOptions options;
  options.xid[4711] = {.severity = Severity::kReset};
  options.xid[13] = {.severity = Severity::kReboot};
  const auto policy = Catalogue(options).xid_policy();
  EXPECT_EQ(policy.size(), xid_rows().size() + 1);
  EXPECT_TRUE(std::ranges::is_sorted(policy, {}, &PolicyLine::code));
  const auto line = std::ranges::find(policy, 13U, &PolicyLine::code);
  ASSERT_NE(line, policy.end());
  EXPECT_EQ(line->severity, Severity::kReboot);
  EXPECT_EQ(line->source, "override");
  EXPECT_EQ(policy.back().code, 4711U);
}

TEST(Catalogue, JudgesTheDriversWordsAsTheXidOfTheSameFault) {
  const Catalogue catalogue;
  const auto severity = [&](Kind kind, const char* label) {
    return catalogue.judge(other(kind, label)).severity;
  };
  EXPECT_EQ(severity(Kind::kNvrm, "reset_required"), Severity::kReset);
  EXPECT_EQ(severity(Kind::kNvrm, "gpu_lost"), catalogue.judge(xid(79)).severity);
  EXPECT_EQ(severity(Kind::kNvrm, "uvm_fatal"), Severity::kReboot);
  EXPECT_EQ(severity(Kind::kAmdLost, "off_bus"), catalogue.judge(xid(79)).severity);
  EXPECT_EQ(severity(Kind::kAmdLost, "resume_failed"), severity(Kind::kRmInit, "0x22:0x56:894"));
  EXPECT_EQ(severity(Kind::kAmdHang, "mes_hang"), severity(Kind::kAmdHang, "ring_timeout"));
  EXPECT_EQ(severity(Kind::kAmdHang, "mes_no_answer"), Severity::kMonitor);
  EXPECT_EQ(severity(Kind::kAmdRas, "bad_page_threshold"), Severity::kIsolate);
}

}  // namespace
}  // namespace gpuward::xid
