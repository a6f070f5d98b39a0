#include "exporter/checks/dcgm/dcgm_check.h"

#include <gmock/gmock.h>

#include <thread>

#include "exporter/checks/check/decide.h"
#include "exporter/checks/check/finding_list.h"
#include "tests/support/wait.h"
#include "tests/unit/exporter/checks/dcgm_samples.h"
#include "tests/unit/exporter/checks/external_check_node.h"

namespace gpuward::exporter {
namespace {

using samples::v4;
using samples::v4_result;
using testing::ElementsAre;
using testing::HasSubstr;
using Kind = CheckOutcome::Kind;

const std::string kPassed = v4("memory", v4_result(0, "Pass") + "," + v4_result(1, "Pass"));

class DcgmCheckTest : public testing::Test {
 protected:
  // dcgmi reaches an engine that another program runs.
  void has_dcgm(const fakes::ToolReply& diag) {
    node.tools.add("dcgmi", "discovery", {.output = "2 GPUs found.\n"});
    node.tools.add("dcgmi", "diag", diag);
  }
  CheckOutcome run(DcgmCheck::Level level = DcgmCheck::Level::kMedium) {
    DcgmCheck check(level);
    return node.run(check);
  }
  CheckOutcome run_level_4() {
    node.is_exclusive = true;
    return run(DcgmCheck::Level::kExtended);
  }

  ExternalCheckNode node;
};

TEST_F(DcgmCheckTest, Check1PassesWhatDcgmPasses) {
  has_dcgm({.output = kPassed});
  const CheckOutcome outcome = run();
  EXPECT_EQ(outcome.kind, Kind::kDone) << outcome.details;
  EXPECT_TRUE(outcome.findings.empty());
  EXPECT_THAT(node.tools.calls("dcgmi"), ElementsAre("dcgmi discovery -l", "dcgmi diag -r 2 -j"));
}

TEST_F(DcgmCheckTest, Check4RunsLevel4) {
  has_dcgm({.output = kPassed});
  EXPECT_EQ(run_level_4().kind, Kind::kDone);
  EXPECT_EQ(node.tools.calls("dcgmi").back(), "dcgmi diag -r 4 -j");
}

TEST_F(DcgmCheckTest, IsolatesTheGpuThatDcgmWantsIsolated) {
  has_dcgm({.output = v4("memory", v4_result(0, "Pass") + "," +
                                       v4_result(1, "Fail", samples::warning(58, 2, "miscompare"))),
            .exit_code = 205});
  const CheckOutcome outcome = run();
  EXPECT_EQ(outcome.kind, Kind::kDone);
  ASSERT_EQ(outcome.findings.size(), 1U);
  EXPECT_EQ(outcome.findings[0].severity, Severity::kIsolate);
  EXPECT_EQ(outcome.findings[0].pci_bus_id, "0000:11:00");
}

TEST_F(DcgmCheckTest, SkipsWithoutDcgmi) {
  const CheckOutcome outcome = run();
  EXPECT_EQ(outcome.kind, Kind::kSkipped);
  EXPECT_THAT(outcome.details, HasSubstr("dcgmi"));
}

TEST_F(DcgmCheckTest, SkipsWithoutAnEngineToStart) {
  node.tools.add("dcgmi", "discovery", {.exit_code = 235});
  const CheckOutcome outcome = run();
  EXPECT_EQ(outcome.kind, Kind::kSkipped);
  EXPECT_THAT(outcome.details, HasSubstr("nv-hostengine"));
}

TEST_F(DcgmCheckTest, SkipsWhenSomebodysEngineIsOutOfReach) {
  node.tools.add("dcgmi", "discovery", {.exit_code = 235});
  node.tools.add("nv-hostengine", "", {});
  node.host.with_process(77, "nv-hostengine");
  const CheckOutcome outcome = run();
  EXPECT_EQ(outcome.kind, Kind::kSkipped);
  EXPECT_THAT(outcome.details, HasSubstr("pid 77"));
  EXPECT_TRUE(node.tools.calls("nv-hostengine").empty());
}

TEST_F(DcgmCheckTest, StartsAnEngineBesideAProcessThatOnlyBearsItsName) {
  node.tools.add("dcgmi", "discovery", {.needs = "engine"});
  node.tools.add("dcgmi", "diag", {.output = kPassed, .needs = "engine"});
  node.tools.add("nv-hostengine", "", {.hangs = true, .up = "engine"});
  node.host.with_process(77, "nv-hostengine").with_uids(77, 65534, 65534);
  const CheckOutcome outcome = run();
  EXPECT_EQ(outcome.kind, Kind::kDone) << outcome.details;
}

TEST_F(DcgmCheckTest, StartsAnEngineAndEndsItAfterwards) {
  node.tools.add("dcgmi", "discovery", {.needs = "engine"});
  node.tools.add("dcgmi", "diag", {.output = kPassed, .needs = "engine"});
  node.tools.add("nv-hostengine", "", {.hangs = true, .up = "engine"});
  const CheckOutcome outcome = run();
  EXPECT_EQ(outcome.kind, Kind::kDone) << outcome.details;
  EXPECT_THAT(node.tools.calls("nv-hostengine"), ElementsAre("nv-hostengine --no-daemon"));
  EXPECT_FALSE(node.tools.is_up("engine"));
  EXPECT_TRUE(is_gone(node.tools.child_of("nv-hostengine").value()));
}

TEST_F(DcgmCheckTest, SkipsWhenTheEngineEndsAtOnce) {
  node.tools.add("dcgmi", "discovery", {.exit_code = 235});
  node.tools.add("nv-hostengine", "", {.complaint = "Err: no permission", .exit_code = 1});
  const CheckOutcome outcome = run();
  EXPECT_EQ(outcome.kind, Kind::kSkipped);
  EXPECT_THAT(outcome.details, HasSubstr("ended with 1: Err: no permission"));
}

// As the replaced suite, which fails the node.
TEST_F(DcgmCheckTest, AnEngineThatIsNotUpIsAResetInTheSeedProfile) {
  node.settings.is_seed_profile = true;
  node.tools.add("dcgmi", "discovery", {.exit_code = 235});
  node.tools.add("nv-hostengine", "", {.complaint = "Err: no permission", .exit_code = 1});
  const CheckOutcome outcome = run();
  EXPECT_EQ(outcome.kind, Kind::kDone);
  ASSERT_EQ(outcome.findings.size(), 1U);
  EXPECT_EQ(outcome.findings[0].code, "hostengine_down");
  EXPECT_EQ(outcome.findings[0].severity, Severity::kReset);
  EXPECT_EQ(outcome.findings[0].cleared_by, ClearedBy::kDiagnostics);
  EXPECT_THAT(outcome.findings[0].line, HasSubstr("Err: no permission"));
  EXPECT_EQ(decide_status(outcome, "1-dcgm-diag-l2", {}).status, CheckStatus::kFail);
  Finding earlier;
  earlier.code = "memory/58";
  earlier.pci_bus_id = "0000:11:00";
  earlier.severity = Severity::kIsolate;
  earlier.cleared_by = ClearedBy::kDiagnostics;
  EXPECT_EQ(decide_status(outcome, "1-dcgm-diag-l2", {}, {earlier}).severity, Severity::kIsolate)
      << "nothing was tested, so that an earlier failure stays";
}

TEST_F(DcgmCheckTest, AStopIsNoEngineThatIsNotUp) {
  node.settings.is_seed_profile = true;
  node.tools.add("dcgmi", "discovery", {.exit_code = 235});
  node.tools.add("nv-hostengine", "", {.hangs = true});
  node.stop.request_stop();
  EXPECT_EQ(run().kind, Kind::kError);
}

// Its parser reads no severity of DCGM's, and takes each Fail for the worst.
TEST_F(DcgmCheckTest, WithTheSeedProfileEachFailIsIsolateAndNoWarnIs) {
  node.settings.is_seed_profile = true;
  const std::string monitor = samples::warning(1, 1, "said"),
                    reset = samples::warning(1, 6, "said");
  const std::string reboot = samples::warning(126, 2, "said"), user = samples::warning(25, 6, "");
  const auto severity = [&](const std::string& status, const std::string& warning) {
    has_dcgm({.output = v4("memory", v4_result(0, "Pass") + "," + v4_result(1, status, warning)),
              .exit_code = 226});
    return worst_of(run().findings);
  };
  for (const std::string& warning : {std::string(), monitor, reset, reboot, user})
    EXPECT_EQ(severity("Fail", warning), Severity::kIsolate) << warning;
  EXPECT_EQ(severity("Warn", reset), Severity::kMonitor);
  node.settings.is_seed_profile = false;
  EXPECT_EQ(severity("Fail", monitor), Severity::kMonitor);
  EXPECT_EQ(severity("Fail", ""), Severity::kReset);
}

TEST_F(DcgmCheckTest, SkipsOnMig) {
  has_dcgm({.output = kPassed});
  node.reading(1).mig_enabled = true;
  for (const CheckOutcome& outcome : {run(), run_level_4()}) {
    EXPECT_EQ(outcome.kind, Kind::kSkipped);
    EXPECT_THAT(outcome.details, HasSubstr("0000:11:00 is in MIG mode"));
  }
}

TEST_F(DcgmCheckTest, SkipsIfThereIsNoGpu) {
  ExternalCheckNode empty(0);
  empty.tools.add("dcgmi", "discovery", {});
  DcgmCheck check(DcgmCheck::Level::kMedium);
  EXPECT_EQ(empty.run(check).kind, Kind::kSkipped);
}

TEST_F(DcgmCheckTest, Check4IsExclusive) {
  has_dcgm({.output = kPassed});
  const CheckOutcome outcome = run(DcgmCheck::Level::kExtended);
  EXPECT_EQ(outcome.kind, Kind::kSkipped);
  EXPECT_THAT(outcome.details, HasSubstr("--exclusive"));
  EXPECT_TRUE(node.tools.calls("dcgmi").empty());
}

TEST_F(DcgmCheckTest, Check4SkipsWhileAProcessUsesAGpu) {
  has_dcgm({.output = kPassed});
  node.reading(0).processes->push_back({4711, std::nullopt});
  const CheckOutcome outcome = run_level_4();
  EXPECT_EQ(outcome.kind, Kind::kSkipped);
  EXPECT_THAT(outcome.details, HasSubstr("pid 4711 uses the GPU 0000:10:00"));
}

TEST_F(DcgmCheckTest, Check4SkipsWhileAPodHasAGpu) {
  has_dcgm({.output = kPassed});
  node.snapshot.workloads.by_device["GPU-1"] = {{"training", "llm-0", "main"}};
  EXPECT_THAT(run_level_4().details, HasSubstr("pod training/llm-0"));
}

TEST_F(DcgmCheckTest, Check4StopsNobodysTelemetryAndSaysWhoIsInTheWay) {
  has_dcgm({.output = kPassed});
  node.host.with_process(99, "dcgm-exporter");
  const CheckOutcome outcome = run_level_4();
  EXPECT_EQ(outcome.kind, Kind::kSkipped);
  EXPECT_THAT(outcome.details, HasSubstr("dcgm-exporter is running (pid 99)"));
  node.host.with_uids(99, 65534, 65534);
  EXPECT_EQ(run_level_4().kind, Kind::kDone) << "a process that only bears the name";
  node.host.with_uids(99, 0, 0);
  node.settings.is_dcgm_l4_beside_telemetry = true;
  EXPECT_EQ(run_level_4().kind, Kind::kDone);
}

TEST_F(DcgmCheckTest, SkipsWhileAnotherDiagnosticRuns) {
  has_dcgm(
      {.output = R"({"DCGM Diagnostic":{"runtime_error":"already running"}})", .exit_code = 217});
  EXPECT_EQ(run().kind, Kind::kSkipped);
}

TEST_F(DcgmCheckTest, BrokenOutputIsAnError) {
  for (const std::string& output : {std::string("{\"DCGM Diagnostic\":{\"test_cat"), std::string(),
                                    std::string("Segmentation fault\n")}) {
    has_dcgm({.output = output, .complaint = "lost", .exit_code = 1});
    const CheckOutcome outcome = run();
    EXPECT_EQ(outcome.kind, Kind::kError) << output;
    EXPECT_TRUE(outcome.findings.empty());
    EXPECT_THAT(outcome.details, HasSubstr("lost"));
  }
}

TEST_F(DcgmCheckTest, KeepsWhatDcgmiWrote) {
  has_dcgm({.output = kPassed});
  const support::TempDir results;
  node.settings.results_dir = results.path();
  EXPECT_THAT(run().details, HasSubstr("(dcgm-l2-raw.json)"));
  EXPECT_EQ(read_file(results / "dcgm-l2-raw.json").value(), kPassed);
  node.settings.results_dir = results / "missing";
  EXPECT_EQ(run().kind, Kind::kDone);
}

TEST_F(DcgmCheckTest, EndlessOutputIsAnError) {
  has_dcgm({.floods = true});
  const CheckOutcome outcome = run();
  EXPECT_EQ(outcome.kind, Kind::kError);
  EXPECT_THAT(outcome.details, HasSubstr("wrote more than"));
}

// The replaced suite's deadline left the diagnostic running beside the next check.
TEST_F(DcgmCheckTest, ADiagnosticThatDoesNotEndIsGoneBeforeTheVerdict) {
  has_dcgm({.hangs = true});
  node.settings.dcgm_timeout = std::chrono::milliseconds(3'000);
  const CheckOutcome outcome = run();
  EXPECT_EQ(outcome.kind, Kind::kError);
  EXPECT_THAT(outcome.details, HasSubstr("the diagnostic timed out"));
  EXPECT_THAT(outcome.details, HasSubstr("after 3000 ms"));
  EXPECT_TRUE(is_gone(node.tools.child_of("dcgmi").value()));
}

TEST_F(DcgmCheckTest, Level4HasATimeOfItsOwn) {
  has_dcgm({.output = kPassed});
  node.settings.dcgm_timeout = std::chrono::milliseconds(0);
  node.settings.check_timeout = std::chrono::milliseconds(0);
  EXPECT_EQ(run_level_4().kind, Kind::kDone);
  EXPECT_GE(dcgm_level_4_entry().timeout, std::chrono::seconds(9000));
}

TEST_F(DcgmCheckTest, EndsSoonAfterAStop) {
  has_dcgm({.hangs = true});
  std::jthread stopper([&] {
    EXPECT_TRUE(support::poll_until([&] { return node.tools.child_of("dcgmi").has_value(); }));
    node.stop.request_stop();
  });
  EXPECT_EQ(run().kind, Kind::kError);
  EXPECT_TRUE(is_gone(node.tools.child_of("dcgmi").value()));
}

// The replaced agent ran level 2 beside jobs and at each of its starts.
TEST(DcgmEntries, Level2WaitsForIdleGpusAndItsInterval) {
  const CheckEntry entry = dcgm_level_2_entry();
  EXPECT_EQ(entry.number, 1);
  EXPECT_EQ(entry.name, "1-dcgm-diag-l2");
  EXPECT_TRUE(entry.needs_idle_gpus);
  EXPECT_TRUE(entry.is_diagnostic);
  EXPECT_EQ(entry.rhythm, CheckEntry::Rhythm::kDiagnostic);
}

TEST(DcgmEntries, Level4OnlyRunsWhenAsked) {
  const CheckEntry entry = dcgm_level_4_entry();
  EXPECT_EQ(entry.number, 4);
  EXPECT_EQ(entry.name, "4-dcgm-diag-l4");
  EXPECT_EQ(entry.rhythm, CheckEntry::Rhythm::kOnDemand);
  EXPECT_EQ(entry.suite, Suite::kIntensive);
}

}  // namespace
}  // namespace gpuward::exporter
