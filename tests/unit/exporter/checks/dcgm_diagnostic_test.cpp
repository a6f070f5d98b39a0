#include "exporter/checks/dcgm/dcgm_diagnostic.h"

#include <gmock/gmock.h>

#include <set>

#include "tests/unit/exporter/checks/dcgm_samples.h"

namespace gpuward::exporter {
namespace {

using samples::parsed;
using samples::recorded;
using testing::HasSubstr;

TEST(DcgmDiagnostic, ReadsDcgm4) {
  const DcgmDiagnostic report = parsed(recorded("dcgm/v4.5.2-level2.json"));
  EXPECT_EQ(report.version, "4.5.2");
  EXPECT_EQ(report.driver_version, "580.82.09");
  ASSERT_EQ(report.results.size(), 3U);
  EXPECT_EQ(report.results[0].test, "software");
  EXPECT_EQ(report.results[0].category, "Deployment");
  EXPECT_EQ(report.results[0].status, DcgmStatus::kFail);
  ASSERT_EQ(report.results[0].warnings.size(), 1U);
  EXPECT_EQ(report.results[0].warnings[0].error_id, 29);
  EXPECT_EQ(report.results[0].warnings[0].severity, 5);
  EXPECT_EQ(report.results[0].warnings[0].gpu, 0);
  EXPECT_EQ(report.results[1].test, "memory");
  EXPECT_EQ(report.results[1].status, DcgmStatus::kPass);
}

TEST(DcgmDiagnostic, ReadsTheOldestDcgm4SampleAndItsSkippedTests) {
  EXPECT_EQ(parsed(recorded("dcgm/v4.2.3-level1.json")).results.size(), 1U);
  const DcgmDiagnostic report = parsed(recorded("dcgm/v4.2.3-level2-skipped.json"));
  ASSERT_EQ(report.results.size(), 3U);
  EXPECT_EQ(report.results[1].status, DcgmStatus::kSkip);
  EXPECT_EQ(report.results[2].status, DcgmStatus::kSkip);
}

TEST(DcgmDiagnostic, ReadsOneResultForEachOfEightGpus) {
  const DcgmDiagnostic report = parsed(recorded("dcgm/v4.1-level3-diagnostic.json"));
  std::set<int> gpus;
  for (const DcgmResult& result : report.results) gpus.insert(result.gpu.value_or(-1));
  EXPECT_EQ(gpus, (std::set<int>{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(DcgmDiagnostic, ReadsTheDeploymentTestsOfDcgm3ThatNameNoGpu) {
  const DcgmDiagnostic report = parsed(recorded("dcgm/v3-level1-fail.json"));
  ASSERT_EQ(report.results.size(), 9U);
  EXPECT_EQ(report.results[4].test, "Persistence Mode");
  EXPECT_EQ(report.results[4].status, DcgmStatus::kFail);
  EXPECT_EQ(report.results[4].gpu, std::nullopt);
  EXPECT_EQ(report.results[5].status, DcgmStatus::kWarn);
}

TEST(DcgmDiagnostic, ReadsGpuIdsOfDcgm3WrittenAsText) {
  const DcgmDiagnostic report = parsed(samples::v3(
      "GPU Memory", R"({"gpu_id":"3","status":"Fail","info":"Allocated 1 byte","warnings":[)" +
                        samples::warning(58, 2, "Miscompare on GPU 3") + "]}"));
  ASSERT_EQ(report.results.size(), 1U);
  EXPECT_EQ(report.results[0].gpu, 3);
  EXPECT_EQ(report.results[0].warnings.at(0).gpu, 3);
  EXPECT_EQ(report.version, "3.3.9");
}

// One result for all GPUs. Its gpu_id is that of the last error, and each entry has the text under
// `warnings` (HelperJsonAddBasicTests, v3.3.9).
TEST(DcgmDiagnostic, TellsTheGpusOfADeploymentTestOfDcgm3ByTheTextOfItsWarnings) {
  const DcgmDiagnostic report = parsed(samples::v3("Persistence Mode",
                                                   R"({"status":"Fail","gpu_id":6,"warnings":[
        {"warnings":"Persistence mode for GPU 2 is disabled.","error_id":29,"error_severity":5},
        {"warnings":"Persistence mode for GPU 6 is disabled.","error_id":29,"error_severity":5},
        {"warnings":"Something else.","error_id":18,"error_severity":4}]})",
                                                   "Deployment"));
  const auto& warnings = report.results.at(0).warnings;
  ASSERT_EQ(warnings.size(), 3U);
  EXPECT_EQ(warnings[0].gpu, 2);
  EXPECT_EQ(warnings[1].gpu, 6);
  EXPECT_EQ(warnings[2].gpu, std::nullopt);
}

TEST(DcgmDiagnostic, PassesOverTheNullsThatDcgm3LeavesForTestsNotRun) {
  const DcgmDiagnostic report = parsed(
      R"({"DCGM GPU Diagnostic":{"test_categories":[{"category":"Hardware","tests":[null,
          {"name":"memory","results":[null,{"gpu_id":"0","status":"Pass","warnings":[null]}]}]}]}})");
  ASSERT_EQ(report.results.size(), 1U);
  EXPECT_TRUE(report.results[0].warnings.empty());
}

TEST(DcgmDiagnostic, GivesAResultOfSeveralGpusToEachOfThem) {
  const DcgmDiagnostic report =
      parsed(samples::v3("memory", R"({"gpu_ids":"0,2","status":"PASS"})"));
  ASSERT_EQ(report.results.size(), 2U);
  EXPECT_EQ(report.results[0].gpu, 0);
  EXPECT_EQ(report.results[1].gpu, 2);
}

TEST(DcgmDiagnostic, CountsWhatASummaryRepeatsOnce) {
  const std::string said = samples::warning(52, 2, "Faulty memory");
  const DcgmDiagnostic report =
      parsed(samples::v4("memory", samples::v4_result(1, "Fail", said),
                         R"({"status":"Fail","warnings":[)" + said + "]}"));
  EXPECT_EQ(report.results.size(), 1U);
}

TEST(DcgmDiagnostic, KeepsWhatOnlyASummarySays) {
  const DcgmDiagnostic report = parsed(
      samples::v4("nvbandwidth", samples::v4_result(0, "Pass"),
                  R"({"status":"Fail","warnings":[)" + samples::warning(1, 3, "lost") + "]}"));
  ASSERT_EQ(report.results.size(), 2U);
  EXPECT_EQ(report.results[1].status, DcgmStatus::kFail);
  EXPECT_EQ(report.results[1].gpu, std::nullopt);
}

TEST(DcgmDiagnostic, ReadsEntitiesThatAreNoGpus) {
  const DcgmDiagnostic report = parsed(samples::v4(
      "cpu_eud", R"({"entity_group":"CPU","entity_group_id":7,"entity_id":1,"status":"Fail"})"));
  EXPECT_EQ(report.results.at(0).entity, "CPU 1");
  EXPECT_EQ(report.results.at(0).gpu, std::nullopt);
}

TEST(DcgmDiagnostic, ReadsSerialNumbersAndNoneIfDcgmHasNone) {
  const DcgmDiagnostic report = parsed(
      R"({"DCGM Diagnostic":{"runtime_error":"x"},"entity_groups":[{"entity_group":"GPU","entities":[
          {"entity_id":0,"serial_num":"1651"},{"entity_id":1,"serial_num":"<<<NOT_SUPPORTED>>>"}]}]})");
  EXPECT_EQ(report.serials, (std::map<int, std::string>{{0, "1651"}}));
}

TEST(DcgmDiagnostic, ReadsIterations) {
  const DcgmDiagnostic report = parsed(R"({"Overall Result":"Fail","iterations":[)" +
                                       samples::v4("memory", samples::v4_result(0, "Pass")) + "," +
                                       samples::v4("memory", samples::v4_result(0, "Fail")) + "]}");
  ASSERT_EQ(report.results.size(), 2U);
  EXPECT_EQ(report.results[1].status, DcgmStatus::kFail);
}

TEST(DcgmDiagnostic, FindsTheJsonBetweenLinesOfALogWithBraces) {
  const DcgmDiagnostic report =
      parsed("WARNING: {not json} and {\"a\":1} before\n" +
             samples::v4("memory", samples::v4_result(0, "Fail",
                                                      samples::warning(1, 2, "a } and a \\\" {"))) +
             "\nbye {");
  EXPECT_EQ(report.results.at(0).warnings.at(0).text, "a } and a \" {");
}

TEST(DcgmDiagnostic, RefusesWhatIsNoReportAndSaysWhy) {
  for (const auto& [output, why] : std::map<std::string, std::string>{
           {"", "no JSON object"},
           {"Error: unable to establish a connection", "no JSON object"},
           {R"({"some":"thing"})", "no DCGM diagnostic report found"},
           {R"({"DCGM Diagnostic":{}})", "contains no test"},
           {R"({"DCGM Diagnostic":{"test_categories":[]}})", "contains no test"},
           {R"({"DCGM Diagnostic":{"test_categories":[{"categ)", "truncated"}}) {
    const auto report = parse_dcgm_diagnostic(output);
    ASSERT_FALSE(report) << output;
    EXPECT_THAT(report.error().message, HasSubstr(why)) << output;
  }
}

TEST(DcgmDiagnostic, KeepsTheReasonOfARunThatDidNotHappen) {
  const DcgmDiagnostic report = parsed(
      R"({"DCGM Diagnostic":{"runtime_error":"Error: Unable to complete diagnostic.","version":"4.6.0"}})");
  EXPECT_TRUE(report.results.empty());
  EXPECT_EQ(report.runtime_error, "Error: Unable to complete diagnostic.");
}

TEST(DcgmDiagnostic, TakesAnUnknownStatusForARiddleAndNotForAPass) {
  const DcgmDiagnostic report = parsed(samples::v4("memory", samples::v4_result(0, "Maybe")));
  EXPECT_TRUE(report.results.empty());
  EXPECT_THAT(report.riddles.at(0), HasSubstr("memory: status 'maybe'"));
}

TEST(DcgmDiagnostic, ReplacesBytesThatAreNoText) {
  const DcgmDiagnostic report = parsed(samples::v4(
      "memory", samples::v4_result(0, "Fail", samples::warning(1, 2, "bad \xff byte"))));
  EXPECT_EQ(report.results.at(0).warnings.at(0).text, "bad \xEF\xBF\xBD byte");
}

}  // namespace
}  // namespace gpuward::exporter
