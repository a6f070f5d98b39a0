#include <gtest/gtest.h>

#include "core/xid/catalogue.h"
#include "core/xid/tables.h"
#include "tests/unit/core/xid/events.h"

namespace gpuward::xid {
namespace {

Assessment judged_xid(const std::string& text, CatalogueOptions options = {}) {
  return Catalogue(std::move(options)).judge(parsed("NVRM: Xid (PCI:0000:4e:00): " + text));
}

Assessment xid74(std::initializer_list<std::uint32_t> registers, CatalogueOptions options = {}) {
  Event event;
  event.code = 74;
  event.registers = registers;
  return Catalogue(std::move(options)).judge(event);
}

TEST(Nvlink5Verdict, ResetsForALinkThatWentDown) {
  const auto verdict =
      judged_xid("149, NETIR_LINK_EVT Fatal XC0 i0 Link 08 (0x004505c6 0x00000000)");
  EXPECT_EQ(verdict.severity, Severity::kReset);
  EXPECT_EQ(verdict.action, "RESET_GPU");
  EXPECT_EQ(verdict.source, "decode");
}

TEST(Nvlink5Verdict, WatchesBitErrors) {
  const auto verdict =
      judged_xid("149, NETIR_BER_EVENT Nonfatal XC0 i0 Link 01 (0x00082226 0x00000001)");
  EXPECT_EQ(verdict.severity, Severity::kMonitor);
  EXPECT_EQ(verdict.action, "IGNORE");
}

TEST(Nvlink5Verdict, FollowsTheReasonInTheSubCode) {
  // Reason 100110 (bits 25:20) is the one of Link Fatal that requires no action.
  EXPECT_EQ(judged_xid("149, NETIR_LINK_EVT Fatal XC0 i0 Link 08 (0x026001c6 0x00000000)").severity,
            Severity::kMonitor);
  EXPECT_EQ(judged_xid("149, NETIR_LINK_EVT Fatal XC0 i0 Link 08 (0x025001c6 0x00000000)").severity,
            Severity::kReset);
}

TEST(Nvlink5Verdict, FollowsTheErrorStatus) {
  EXPECT_EQ(judged_xid("144, SAW_MVB Nonfatal XC0 i0 Link 1 (0x00000021 0x00000001)").severity,
            Severity::kMonitor);
  EXPECT_EQ(judged_xid("144, SAW_MVB Fatal XC0 i0 Link 1 (0x00000021 0x00000002)").severity,
            Severity::kReset);
}

TEST(Nvlink5Verdict, TakesTheWorstOfSeveralErrorsInOneStatus) {
  EXPECT_EQ(judged_xid("144, SAW_MVB Fatal XC0 i0 Link 1 (0x00000021 0x00000003)").severity,
            Severity::kReset);
}

TEST(Nvlink5Verdict, ReadsTheWordsOfBothDriverGenerations) {
  for (const std::uint32_t branch : {550U, 575U}) {
    const CatalogueOptions options{.driver_branch = branch};
    EXPECT_EQ(
        judged_xid("144, SAW_MVB Fatal XC0 i0 Link 1 (0x00000021 0x00000002)", options).source,
        "decode")
        << branch;
    EXPECT_EQ(
        judged_xid("144, SAW_MVB Fatal XC0 i0 Link 1 (0x00000001 0x00000002)", options).source,
        "decode")
        << branch;
  }
}

TEST(Nvlink5Verdict, ResetsForThePromotedForm) {
  // One more bit makes the receive pipe's error fatal: bit 10 before R575, bit 7 since.
  EXPECT_EQ(judged_xid("145, RLW_RXPIPE Nonfatal XC0 i0 Link 1 (0x000000c2 0x00000001)").severity,
            Severity::kMonitor);
  EXPECT_EQ(judged_xid("145, RLW_RXPIPE Fatal XC0 i0 Link 1 (0x000004c2 0x00000001)").severity,
            Severity::kReset);
  EXPECT_EQ(judged_xid("145, RLW_RXPIPE Nonfatal XC0 i0 Link 1 (0x00000006 0x00000001)").severity,
            Severity::kMonitor);
  EXPECT_EQ(judged_xid("145, RLW_RXPIPE Fatal XC0 i0 Link 1 (0x00000086 0x00000001)").severity,
            Severity::kReset);
}

TEST(Nvlink5Verdict, TrustsTheDriversWordIfNoRuleFits) {
  EXPECT_EQ(judged_xid("147, TREX Fatal XC0 i0 Link 1 (0x00000000 0x00000000)").severity,
            Severity::kReset);
  EXPECT_EQ(judged_xid("149, NETIR_LINK_EVT Fatal XC0 i0 Link 08").severity, Severity::kReset);
  EXPECT_EQ(judged_xid("149, NETIR_LINK_EVT Nonfatal XC0 i0 Link 08").severity, Severity::kMonitor);
}

TEST(Nvlink5Verdict, TakesTheRowWithoutAnyWord) {
  EXPECT_EQ(judged_xid("149, NETIR").severity, Severity::kReset);
  EXPECT_EQ(judged_xid("145, RLW").severity, Severity::kMonitor);
}

TEST(Nvlink5Verdict, TakesTheConfiguredDefaultIfNoRuleFits) {
  const CatalogueOptions options{.nvlink5_default = Severity::kReboot};
  EXPECT_EQ(judged_xid("145, RLW_RXPIPE Nonfatal XC0 i0 Link 11 (...)", options).severity,
            Severity::kReboot);
  EXPECT_EQ(judged_xid("145, RLW_RXPIPE Nonfatal XC0 i0 Link 13 (0x0409a0c2 0x00000008)", options)
                .severity,
            Severity::kMonitor);
}

TEST(Nvlink5Rules, AreNeverAmbiguousBetweenTheTwoDriverGenerations) {
  for (const auto& before : nvlink5_rules()) {
    for (const auto& from : nvlink5_rules()) {
      if (before.code != from.code || before.unit != from.unit || before.code == 150) continue;
      const auto common = before.before_575.mask & from.from_575.mask;
      EXPECT_NE(before.before_575.value & common, from.from_575.value & common) << before.unit;
    }
  }
}

TEST(Xid74Verdict, ResetsWithoutRegisters) {
  EXPECT_EQ(xid74({}).severity, Severity::kReset);
  EXPECT_EQ(xid74({}).action, "WORKFLOW_NVLINK_ERR");
  EXPECT_EQ(xid74({0, 0, 0, 0, 0, 0, 0}).severity, Severity::kReset);
}

TEST(Xid74Verdict, IgnoresTheBitsThatReportNoFault) {
  const auto verdict = xid74({1U | 1U << 23U | 1U << 30U, 0, 0, 0, 0, 0, 0});
  EXPECT_EQ(verdict.severity, Severity::kMonitor);
  EXPECT_EQ(verdict.action, "IGNORE");
  EXPECT_EQ(verdict.source, "decode");
}

TEST(Xid74Verdict, TakesTheWorstBit) {
  EXPECT_EQ(xid74({1U | 1U << 4U, 0, 0, 0, 0, 0, 0}).severity, Severity::kReset);
  EXPECT_EQ(xid74({0, 0, 0, 0, 1U << 20U, 0, 0}).severity, Severity::kMonitor);
  EXPECT_EQ(xid74({0, 0, 0, 1U << 18U, 0, 0, 0}).severity, Severity::kReset);
}

TEST(Xid74Verdict, TakesTheDefaultForABitThatNobodyKnows) {
  EXPECT_EQ(xid74({1, 1, 0, 0, 0, 0, 0}).severity, Severity::kReset);
  EXPECT_EQ(xid74({1, 1, 0, 0, 0, 0, 0}, {.nvlink_default = Severity::kMonitor}).severity,
            Severity::kMonitor);
}

TEST(Xid74Verdict, TakesTheConfiguredDefaultForHardware) {
  EXPECT_EQ(xid74({1U << 4U, 0, 0, 0, 0, 0, 0}, {.nvlink_default = Severity::kReboot}).severity,
            Severity::kReboot);
}

}  // namespace
}  // namespace gpuward::xid
