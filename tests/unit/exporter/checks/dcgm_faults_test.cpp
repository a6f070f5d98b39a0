#include "exporter/checks/dcgm/dcgm_faults.h"

#include <gmock/gmock.h>

#include "exporter/checks/dcgm/dcgm_outcome.h"
#include "tests/unit/exporter/checks/dcgm_samples.h"

namespace gpuward::exporter {
namespace {

using samples::parsed;
using samples::recorded;
using samples::v3;
using samples::v4;
using samples::v4_result;
using testing::HasSubstr;

DcgmFaults judge(const std::string& output, int exit_code = 226) {
  return judge_dcgm_diagnostic(parsed(output), exit_code, {});
}

Severity worst(const DcgmFaults& verdict) {
  Severity worst = Severity::kNone;
  for (const DcgmFault& fault : verdict.faults) worst = std::max(worst, fault.severity);
  return worst;
}

Severity severity_of(int dcgm_severity, int error_id = 1) {
  const std::string said = samples::warning(error_id, dcgm_severity, "said");
  return worst(judge(v4("memory", v4_result(0, "Fail", said)), dcgm_severity == 2 ? 205 : 226));
}

Gpu gpu(int index, std::string serial = "") {
  Gpu made;
  made.index = index;
  made.pci = {0, static_cast<std::uint8_t>(0x10 + index), 0, 0};
  made.serial = std::move(serial);
  return made;
}

// CONTRACTS A, checks 1 and 4; dcgm_errors.h: 0 none .. 6 reset.
TEST(DcgmFaults, TakesTheSeverityFromTheErrorsOfWarnings) {
  EXPECT_EQ(severity_of(2), Severity::kIsolate);
  EXPECT_EQ(severity_of(6), Severity::kReset);
  EXPECT_EQ(severity_of(1), Severity::kMonitor);
  for (const int needs_triage : {3, 4, 5, 7, 99}) {
    EXPECT_EQ(severity_of(needs_triage), Severity::kMonitor) << needs_triage;
  }
}

TEST(DcgmFaults, SaysThatAnErrorNeedsTriage) {
  for (const int severity : {3, 4, 5}) {
    const auto verdict =
        judge(v4("pcie", v4_result(0, "Fail", samples::warning(30, severity, ""))));
    EXPECT_THAT(verdict.faults.at(0).why, HasSubstr("needs triage"));
  }
}

TEST(DcgmFaults, TakesGpuRecoveryRebootForAReboot) {
  const auto verdict =
      judge(v4("software", v4_result(1, "Fail", samples::warning(126, 2, "reboot"))), 205);
  EXPECT_EQ(verdict.faults.at(0).severity, Severity::kReboot);
  EXPECT_EQ(verdict.faults.at(0).cleared_by, ClearedBy::kReboot);
  EXPECT_EQ(verdict.undecided, "");
}

// The replaced parser counted each of these as a pass, or as worse than it was.
TEST(DcgmFaults, FailOfDcgm4IsNoPass) { EXPECT_EQ(severity_of(2), Severity::kIsolate); }

TEST(DcgmFaults, WarnIsNoPass) {
  const auto verdict = judge(v3("PCIe", R"({"gpu_id":"0","status":"Warn"})"), 0);
  EXPECT_EQ(worst(verdict), Severity::kMonitor);
}

TEST(DcgmFaults, FailOfDcgm3WithAnErrorToWatchIsNotIsolate) {
  const auto verdict = judge(v3(
      "PCIe", R"({"gpu_id":"0","status":"Fail","warnings":[)" + samples::warning(3, 1, "") + "]}"));
  EXPECT_EQ(worst(verdict), Severity::kMonitor);
}

TEST(DcgmFaults, RuntimeErrorIsNoPass) {
  for (const std::string root : {"DCGM GPU Diagnostic", "DCGM Diagnostic"}) {
    const auto verdict = judge(R"({")" + root + R"(":{"runtime_error":"it broke"}})", 226);
    EXPECT_EQ(verdict.undecided, "DCGM: it broke");
    EXPECT_EQ(dcgm_outcome({}, verdict, {}).kind, CheckOutcome::Kind::kError);
  }
}

TEST(DcgmFaults, NoTestSeenIsNoPass) {
  EXPECT_FALSE(parse_dcgm_diagnostic(R"({"DCGM Diagnostic":{"test_categories":[]}})"));
}

TEST(DcgmFaults, JudgesAFailWithoutAnErrorByTheSettings) {
  const DcgmDiagnostic report = parsed(v4("memory", v4_result(2, "Fail")));
  for (const Severity bare : {Severity::kReset, Severity::kIsolate}) {
    const auto verdict = judge_dcgm_diagnostic(report, 226, {.bare_fail = bare});
    ASSERT_EQ(verdict.faults.size(), 1U);
    EXPECT_EQ(verdict.faults[0].severity, bare);
    EXPECT_EQ(verdict.faults[0].code, "memory");
    EXPECT_EQ(verdict.faults[0].gpu, 2);
  }
}

// DCGM 2 and 3.0: `gpu_ids`, and a warning that is only a text.
TEST(DcgmFaults, AFailThatExplainsItselfWeighsNoLessThanABareOne) {
  const std::string said = v3(
      "GPU Memory", R"({"gpu_ids":"1","status":"FAIL","warnings":["uncorrectable ECC errors"]})");
  for (const Severity bare : {Severity::kReset, Severity::kIsolate}) {
    const auto verdict = judge_dcgm_diagnostic(parsed(said), 226, {.bare_fail = bare});
    ASSERT_EQ(verdict.faults.size(), 1U);
    EXPECT_EQ(verdict.faults[0].severity, bare);
    EXPECT_THAT(verdict.faults[0].line, HasSubstr("uncorrectable"));
  }
  EXPECT_EQ(
      worst(judge(v3("GPU Memory", R"({"gpu_ids":"1","status":"WARN","warnings":["x"]})"), 0)),
      Severity::kMonitor);
  const std::string setup = R"({"gpu_ids":"1","status":"FAIL","warnings":["persistence mode"]})";
  EXPECT_EQ(worst(judge(v3("Persistence Mode", setup, "Deployment"))), Severity::kMonitor);
  EXPECT_EQ(severity_of(5, 29), Severity::kMonitor) << "a configuration that DCGM names so";
}

// nvvs/src/Software.cpp (v4.6.0) only warns of graphics processes, whose error says "reset".
TEST(DcgmFaults, NeverResetsAGpuBecauseSomebodyUsesIt) {
  for (const std::string status : {"Warn", "Fail"}) {
    const auto verdict =
        judge(v4("software", v4_result(0, status, samples::warning(25, 6, "in use"))), 226);
    EXPECT_EQ(worst(verdict), Severity::kMonitor) << status;
  }
}

// NVIDIA/DCGM issue 272: right after DCGM's own burn test, a GPU that differs each time.
TEST(DcgmFaults, OnlyWatchesAGpuThatWasNotIdleBeforeNvbandwidth) {
  const std::string busy =
      "The memory copy utilitization for the GPU: 1 is greater than 10%. This may affect the "
      "results of the nvbandwidth test.";
  const auto of = [](const std::string& test, int error, const std::string& text) {
    return worst(judge(v4(test, v4_result(0, "Fail", samples::warning(error, 2, text))), 226));
  };
  EXPECT_EQ(of("nvbandwidth", 38, busy), Severity::kMonitor);
  EXPECT_EQ(of("nvbandwidth", 38, "a value is over its limit"), Severity::kIsolate);
  EXPECT_EQ(of("diagnostic", 38, busy), Severity::kIsolate);
}

TEST(DcgmFaults, OnlyWatchesWhatDcgmItselfDoesNotFail) {
  for (const std::string status : {"Warn", "Pass"}) {
    const auto verdict =
        judge(v4("memory", v4_result(0, status, samples::warning(56, 2, "no memory"))), 0);
    EXPECT_EQ(worst(verdict), Severity::kMonitor) << status;
  }
}

TEST(DcgmFaults, FindsNothingInASkippedTest) {
  const auto verdict =
      judge(v4("memory", v4_result(0, "Skip", samples::warning(55, 2, "ECC is off"))), 0);
  EXPECT_TRUE(verdict.faults.empty());
  EXPECT_EQ(verdict.skipped, 1U);
  EXPECT_TRUE(verdict.tested.empty());
}

TEST(DcgmFaults, DoesNotTellAfterAnAbortedTest) {
  const auto verdict =
      judge(v4("memory", v4_result(0, "Fail", samples::warning(47, 5, "aborted"))), 226);
  EXPECT_THAT(verdict.undecided, HasSubstr("aborted"));
}

TEST(DcgmFaults, HoldsTheExitCodeAgainstTheReport) {
  const std::string passed = v4("memory", v4_result(0, "Pass"));
  const std::string failed = v4("memory", v4_result(0, "Fail", samples::warning(1, 1, "")));
  EXPECT_EQ(judge(passed, 0).undecided, "");
  EXPECT_EQ(judge(failed, 226).undecided, "");
  EXPECT_THAT(judge(passed, 205).undecided, HasSubstr("205 (isolate)"));
  EXPECT_THAT(judge(failed, 205).undecided, HasSubstr("205 (isolate)"));
  EXPECT_THAT(judge(passed, 226).undecided, HasSubstr("226 (failed)"));
  EXPECT_THAT(judge(passed, 1).undecided, HasSubstr("exited with code 1"));
}

// facebookresearch/gcm has seen exit code 205 with a report in which every test passed.
TEST(DcgmFaults, DoesNotPassAReportWhoseExitCodeSaysIsolate) {
  EXPECT_THAT(judge(recorded("dcgm/v3-level1.json"), 205).undecided, HasSubstr("isolate"));
}

TEST(DcgmFaults, JudgesARealGpuWithoutPersistenceModeAsSomethingToWatch) {
  const auto verdict = judge(recorded("dcgm/v4.5.2-level2.json"));
  ASSERT_EQ(verdict.faults.size(), 1U);
  EXPECT_EQ(verdict.faults[0].severity, Severity::kMonitor);
  EXPECT_EQ(verdict.faults[0].code, "software/29");
  EXPECT_EQ(verdict.tested, std::set<int>{0});
  EXPECT_EQ(verdict.undecided, "");
}

TEST(DcgmFaults, KeepsTheWorstOfOneErrorOnOneGpu) {
  const auto verdict = judge(
      v4("memory",
         v4_result(0, "Fail", samples::warning(9, 1, "a") + "," + samples::warning(9, 2, "b"))),
      205);
  ASSERT_EQ(verdict.faults.size(), 1U);
  EXPECT_EQ(verdict.faults[0].severity, Severity::kIsolate);
}

TEST(DcgmRefusal, KnowsWhyDcgmWouldNotRun) {
  EXPECT_THAT(dcgm_refusal("Error: Diagnostic could not be run while DCGM is paused.", 202).value(),
              HasSubstr("paused"));
  EXPECT_THAT(dcgm_refusal("", 217).value(), HasSubstr("another diagnostic"));
  EXPECT_EQ(dcgm_refusal("The NVVS process was killed", 203), std::nullopt);
}

TEST(DcgmOutcome, NamesGpusByPciAddress) {
  const DcgmDiagnostic report =
      parsed(v4("memory", v4_result(1, "Fail", samples::warning(58, 2, "x"))));
  const auto outcome =
      dcgm_outcome(report, judge_dcgm_diagnostic(report, 205, {}), {gpu(0), gpu(1)});
  ASSERT_EQ(outcome.findings.size(), 1U);
  EXPECT_EQ(outcome.findings[0].pci_bus_id, "0000:11:00");
  EXPECT_EQ(outcome.findings[0].code, "memory/58");
  EXPECT_EQ(outcome.findings[0].cleared_by, ClearedBy::kDiagnostics);
}

TEST(DcgmOutcome, TrustsTheSerialNumberMoreThanTheIndex) {
  DcgmDiagnostic report;
  report.serials = {{0, "111"}, {1, "222"}};
  const std::vector<Gpu> gpus{gpu(0, "222"), gpu(1, "333")};
  EXPECT_EQ(gpu_of_dcgm(1, report, gpus), &gpus[0]);
  EXPECT_EQ(gpu_of_dcgm(0, report, gpus), &gpus[0]);
  EXPECT_EQ(gpu_of_dcgm(7, report, gpus), nullptr);
}

TEST(DcgmOutcome, IsNoPassWhileAGpuIsUntested) {
  const DcgmDiagnostic report =
      parsed(v4("memory", v4_result(0, "Pass") + "," + v4_result(1, "Skip")));
  const auto verdict = judge_dcgm_diagnostic(report, 0, {});
  const auto outcome = dcgm_outcome(report, verdict, {gpu(0), gpu(1)});
  EXPECT_EQ(outcome.kind, CheckOutcome::Kind::kError);
  EXPECT_THAT(outcome.details, HasSubstr("no test has run on 0000:11:00"));
  ASSERT_EQ(outcome.untold.size(), 1U);
  EXPECT_EQ(outcome.untold[0].pci_bus_id, "0000:11:00");
}

TEST(DcgmOutcome, SkipsIfDcgmHasNoTestForTheGpus) {
  const DcgmDiagnostic report = parsed(v4("memory", v4_result(0, "Skip")));
  const auto outcome = dcgm_outcome(report, judge_dcgm_diagnostic(report, 0, {}), {gpu(0)});
  EXPECT_EQ(outcome.kind, CheckOutcome::Kind::kSkipped);
}

TEST(DcgmOutcome, PassesWhenEachGpuWasTested) {
  const DcgmDiagnostic report =
      parsed(v4("memory", v4_result(0, "Pass") + "," + v4_result(1, "Pass")));
  const auto outcome = dcgm_outcome(report, judge_dcgm_diagnostic(report, 0, {}), {gpu(0), gpu(1)});
  EXPECT_EQ(outcome.kind, CheckOutcome::Kind::kDone);
  EXPECT_TRUE(outcome.findings.empty());
  EXPECT_THAT(outcome.details, HasSubstr("2 passed"));
}

}  // namespace
}  // namespace gpuward::exporter
