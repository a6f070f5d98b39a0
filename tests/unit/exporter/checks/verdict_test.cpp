#include "exporter/checks/check/verdict.h"

#include <gtest/gtest.h>

namespace gpuward::exporter {
namespace {

using enum CheckStatus;

State with(const std::string& check, Severity severity, Evidence evidence = Evidence::kMeasured) {
  Finding finding;
  finding.check = check;
  finding.severity = severity;
  finding.evidence = evidence;
  State state;
  state.findings[{check, {}, {}, evidence}] = finding;
  return state;
}

Verdict verdict(const std::string& check, CheckStatus newest, const State& state) {
  CheckResult result;
  result.check = check;
  result.status = newest;
  result.severity = Severity::kIsolate;  // the run's own, which does not count
  return verdict_of(result, state);
}

TEST(VerdictOf, FollowsTheFindingsThatStandNow) {
  const State failing = with("2-efa-enumeration", Severity::kReboot);
  const State warning = with("2-efa-enumeration", Severity::kMonitor);
  EXPECT_EQ(verdict("2-efa-enumeration", kPass, failing).status, kFail);
  EXPECT_EQ(verdict("2-efa-enumeration", kPass, failing).severity, Severity::kReboot);
  EXPECT_EQ(verdict("2-efa-enumeration", kFail, warning).status, kWarn);
  EXPECT_EQ(verdict("2-efa-enumeration", kFail, {}).status, kPass);
  EXPECT_EQ(verdict("2-efa-enumeration", kFail, {}).severity, Severity::kNone);
  EXPECT_EQ(verdict("3-topology-check", kPass, failing).status, kPass);
}

TEST(VerdictOf, CheckZeroIsThatOfReadingsAndOfTheLogOfHardware) {
  for (const char* check : {"gpu", "xid", "amd_ras", "0-nvidia-smi"}) {
    EXPECT_EQ(verdict("0-nvidia-smi", kPass, with(check, Severity::kReset)).status, kFail) << check;
  }
  for (const char* check : {"kernel_rule", "ntp", "2-efa-enumeration", "announcements"}) {
    EXPECT_EQ(verdict("0-nvidia-smi", kPass, with(check, Severity::kReset)).status, kPass) << check;
  }
}

// Its run decides in the same way (DecideStatus).
TEST(VerdictOf, AnErrorIsAnErrorUntilAFailureStandsBesideIt) {
  EXPECT_EQ(verdict("0-nvidia-smi", kError, {}).status, kError);
  EXPECT_EQ(verdict("0-nvidia-smi", kError, with("xid", Severity::kMonitor)).status, kError);
  EXPECT_EQ(verdict("0-nvidia-smi", kError, with("xid", Severity::kReset)).status, kFail);
}

TEST(VerdictOf, ASkippedCheckSpeaksForItsOwnFindingsAlone) {
  EXPECT_EQ(verdict("0-nvidia-smi", kSkip, with("xid", Severity::kReset)).status, kSkip);
  EXPECT_EQ(verdict("0-nvidia-smi", kSkip, with("xid", Severity::kReset)).severity,
            Severity::kNone);
  EXPECT_EQ(verdict("0-nvidia-smi", kSkip, with("0-nvidia-smi", Severity::kReset)).status, kFail);
  EXPECT_EQ(verdict("1-dcgm-diag-l2", kSkip, with("1-dcgm-diag-l2", Severity::kMonitor)).severity,
            Severity::kNone);
}

}  // namespace
}  // namespace gpuward::exporter
