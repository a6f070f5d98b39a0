#include "exporter/checks/check/decide.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exporter/checks/check/finding_list.h"

namespace gpuward::exporter {
namespace {

using ::testing::HasSubstr;

const RunTimes kTimes{WallTime(std::chrono::seconds(1'000)), std::chrono::milliseconds(250)};

std::vector<Finding> findings_of(std::initializer_list<Code> codes) {
  FindingList list(FindingList::Profile::kOurs);
  for (const Code code : codes) list.add(code, "0000:4e:00", "seen");
  return list.take_findings();
}

CheckResult decide(const CheckOutcome& outcome, const std::vector<Finding>& standing = {}) {
  return decide_status(outcome, "gpu", kTimes, standing);
}

TEST(DecideStatus, PassesIfNothingIsWrong) {
  const CheckResult result = decide(CheckOutcome::done("8 GPUs"));
  EXPECT_EQ(result.status, CheckStatus::kPass);
  EXPECT_EQ(result.severity, Severity::kNone);
  EXPECT_EQ(result.details, "8 GPUs");
  EXPECT_EQ(result.check, "gpu");
}

TEST(DecideStatus, WarnsForMonitorAndFailsFromResetUp) {
  EXPECT_EQ(decide(CheckOutcome::done("", findings_of({Code::kPersistenceOff}))).status,
            CheckStatus::kWarn);
  EXPECT_EQ(decide(CheckOutcome::done("", findings_of({Code::kRowRemapPending}))).status,
            CheckStatus::kFail);
}

TEST(DecideStatus, LastWriteWinsIsGoneTheWorstFindingDecides) {
  const CheckResult result =
      decide(CheckOutcome::done("", findings_of({Code::kRowRemapFailure, Code::kPersistenceOff})));
  EXPECT_EQ(result.status, CheckStatus::kFail);
  EXPECT_EQ(result.severity, Severity::kIsolate);
  EXPECT_EQ(result.findings.size(), 2U);
}

TEST(DecideStatus, TakesWhatOthersHaveLatchedIntoAccount) {
  CheckOutcome outcome = CheckOutcome::done("Xid 79");
  outcome.latched = Severity::kReboot;
  EXPECT_EQ(decide(outcome).status, CheckStatus::kFail);
  EXPECT_EQ(decide(outcome).severity, Severity::kReboot);
}

TEST(DecideStatus, AnErrorIsNeverAFailureNorAPass) {
  const CheckResult result = decide(CheckOutcome::error("the library is not there"));
  EXPECT_EQ(result.status, CheckStatus::kError);
  EXPECT_EQ(result.severity, Severity::kNone);
}

TEST(DecideStatus, AFailureFoundBesideAnErrorWins) {
  CheckOutcome outcome = CheckOutcome::error("GPU 3 cannot be read");
  outcome.findings = findings_of({Code::kRowRemapPending});
  EXPECT_EQ(decide(outcome).status, CheckStatus::kFail);
  outcome.findings = findings_of({Code::kGpuUnreadable});
  EXPECT_EQ(decide(outcome).status, CheckStatus::kError);
}

TEST(DecideStatus, AnErrorOrASkipLeavesAFailureStanding) {
  const auto standing = findings_of({Code::kRowRemapPending});
  EXPECT_EQ(decide(CheckOutcome::error("no answer"), standing).status, CheckStatus::kFail);
  EXPECT_EQ(decide(CheckOutcome::skipped("GPUs in use"), standing).status, CheckStatus::kFail);
  EXPECT_EQ(decide(CheckOutcome::done("all well"), standing).status, CheckStatus::kPass);
}

TEST(DecideStatus, WhatOnlyAnOperatorClearsStandsBesideAPass) {
  EXPECT_EQ(decide(CheckOutcome::done(""), findings_of({Code::kRowRemapFailure})).severity,
            Severity::kIsolate);
}

TEST(DecideStatus, SkipsWithoutASeverity) {
  const CheckResult result = decide(CheckOutcome::skipped("no EFA here"));
  EXPECT_EQ(result.status, CheckStatus::kSkip);
  EXPECT_EQ(result.severity, Severity::kNone);
}

TEST(DecideStatus, NeverWritesBrokenTextIntoAResult) {
  const CheckResult result = decide(CheckOutcome::done("a\xff" + std::string(5'000, 'x')));
  EXPECT_LE(result.details.size(), 1024U);
  EXPECT_THAT(result.details, HasSubstr("\xEF\xBF\xBD"));
}

TEST(DescribeFindings, NamesTheWorstFirst) {
  EXPECT_EQ(describe_findings(findings_of({Code::kPersistenceOff, Code::kRowRemapFailure})),
            "row_remap_failure on 0000:4e:00 (isolate); persistence_off on 0000:4e:00 (monitor)");
}

}  // namespace
}  // namespace gpuward::exporter
