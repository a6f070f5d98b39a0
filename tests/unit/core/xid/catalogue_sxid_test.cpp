#include <gtest/gtest.h>

#include "core/xid/catalogue.h"
#include "tests/unit/core/xid/events.h"

namespace gpuward::xid {
namespace {

Assessment judged_sxid(const std::string& text, CatalogueOptions options = {}) {
  return Catalogue(std::move(options))
      .judge(parsed("nvidia-nvswitch0: SXid (PCI:0000:c2:00.0): " + text));
}

TEST(SxidVerdict, ResetsForAFatalLink) {
  const auto verdict = judged_sxid("20034, Fatal, Link 28 LTSSM Fault Up");
  EXPECT_EQ(verdict.severity, Severity::kReset);
  EXPECT_EQ(verdict.cleared_by, ClearedBy::kGpuReset);
}

TEST(SxidVerdict, RebootsForTheWholeSwitch) {
  EXPECT_EQ(judged_sxid("23001, Fatal, ingress SRC-VC buffer overflow").severity,
            Severity::kReboot);
  EXPECT_EQ(judged_sxid("26006, SOE HALTED").severity, Severity::kReboot);
}

TEST(SxidVerdict, RebootsForWhatIsNonFatalByNameAndStallsTraffic) {
  EXPECT_EQ(judged_sxid("12028, Non-fatal, Link 32 egress non-posted PRIV error (First)").severity,
            Severity::kReboot);
  EXPECT_EQ(judged_sxid("19084, Non-fatal, Link 29 AN1 Heartbeat Timeout Error (First)").severity,
            Severity::kReboot);
}

TEST(SxidVerdict, TrustsTheWordInTheLine) {
  EXPECT_EQ(judged_sxid("24007, Fatal, Link 28 sourcetrack timeout error (First)").severity,
            Severity::kReset);
  EXPECT_EQ(judged_sxid("24007, Non-fatal, Link 28 sourcetrack timeout error (First)").severity,
            Severity::kMonitor);
  EXPECT_EQ(judged_sxid("24007, Non-fatal, Link 28 sourcetrack timeout error (First)").cleared_by,
            ClearedBy::kAge);
  EXPECT_EQ(judged_sxid("19049, Fatal, Link 1 NCISOC ECC Limit Error").cleared_by,
            ClearedBy::kGpuReset);
  EXPECT_EQ(judged_sxid("19049, Fatal, Link 1 NCISOC ECC Limit Error").severity, Severity::kReset);
  EXPECT_EQ(judged_sxid("12020, Non-fatal, Link 1 egress sequence ID error").severity,
            Severity::kMonitor);
  EXPECT_EQ(judged_sxid("12020, Fatal, Link 1 egress sequence ID error").severity,
            Severity::kReboot);
}

TEST(SxidVerdict, MakesNothingOfWhatTheSwitchDoesAllDay) {
  EXPECT_EQ(judged_sxid("22013, Non-fatal, Link 44 Minion Link DLREQ interrupt").severity,
            Severity::kNone);
}

TEST(SxidVerdict, WatchesANumberOfNoTable) {
  const auto verdict = judged_sxid("31999, Fatal, Link 1 something new");
  EXPECT_EQ(verdict.severity, Severity::kMonitor);
  EXPECT_FALSE(verdict.known);
}

TEST(MovedSxid, IsTheTemperatureIfTheTextSaysSo) {
  const auto verdict = judged_sxid("28002, OSFP Thermal Warn Deactivated");
  EXPECT_EQ(verdict.severity, Severity::kNone);
  EXPECT_TRUE(verdict.clears);
  EXPECT_EQ(verdict.row->code, 28002U);
}

TEST(MovedSxid, IsTheMulticastErrorOfOlderDriversIfTheTextSaysSo) {
  const auto verdict = judged_sxid("28002, Fatal, Link 3 MC TS tag store fatal ECC (First)");
  EXPECT_EQ(verdict.severity, Severity::kReset);
  EXPECT_FALSE(verdict.clears);
  EXPECT_EQ(verdict.row->code, 29002U);
}

TEST(MovedSxid, IsTheReductionErrorOfOlderDriversIfTheTextSaysSo) {
  EXPECT_EQ(judged_sxid("29002, Fatal, Link 3 Red TS tag store fatal ECC (First)").row->code,
            30002U);
  EXPECT_EQ(judged_sxid("29002, Fatal, Link 3 MC TS tag store fatal ECC (First)").row->code,
            29002U);
}

TEST(SxidVerdict, TakesCoolingForARecovery) {
  EXPECT_TRUE(judged_sxid("10005, Thermal slowdown Disengaged").clears);
  EXPECT_TRUE(judged_sxid("28004, OSFP Thermal Overt Deactivated").clears);
  EXPECT_FALSE(judged_sxid("10004, PMGR OVERT Threshold reached. Shutting Down").clears);
}

TEST(SxidVerdict, TakesAnOverrideByTheNumberInTheLine) {
  CatalogueOptions options;
  options.sxid[20034] = {.severity = Severity::kMonitor};
  const auto verdict = judged_sxid("20034, Fatal, Link 28 LTSSM Fault Up", options);
  EXPECT_EQ(verdict.severity, Severity::kMonitor);
  EXPECT_EQ(verdict.source, "override");
}

}  // namespace
}  // namespace gpuward::xid
