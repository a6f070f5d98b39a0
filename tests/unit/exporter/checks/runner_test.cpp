#include "exporter/checks/runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "core/runtime/files.h"
#include "exporter/checks/schedule.h"
#include "exporter/host/gpu_lock.h"
#include "tests/support/quickest.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait.h"
#include "tests/unit/exporter/checks/scenario.h"
#include "tests/unit/exporter/checks/stage.h"

namespace gpuward::exporter {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

CheckEntry diagnostic() {
  CheckEntry entry = scripted_entry();
  entry.number = 1;
  entry.rhythm = CheckEntry::Rhythm::kDiagnostic;
  entry.needs_idle_gpus = true;
  entry.loads_gpus = true;
  entry.is_diagnostic = true;
  return entry;
}

CheckOutcome pending_remap(const CheckContext&) {
  Finding finding;
  finding.code = "row_remap_pending";
  finding.severity = Severity::kReset;
  finding.cleared_by = ClearedBy::kCheck;
  return CheckOutcome::done("a row waits", {finding});
}

bool runs_reach(int count) {
  return support::poll_until([&] {
    const std::lock_guard lock(script().mutex);
    return script().runs >= count;
  });
}

TEST(CheckRunner, RunsQuickChecksSoonAfterTheStartAndThenAtTheirInterval) {
  Stage stage;
  stage.gpus_answer();
  stage.pass(seconds(10));
  EXPECT_EQ(script().runs, 1);
  EXPECT_EQ(stage.result().status, CheckStatus::kPass);
  stage.pass(seconds(299));
  EXPECT_EQ(script().runs, 1);
  stage.pass(seconds(1));
  EXPECT_EQ(script().runs, 2);
}

TEST(CheckRunner, WaitsForTheFirstReadingOfTheGpusButNotForEver) {
  Stage stage;
  stage.pass(seconds(30));
  EXPECT_FALSE(stage.has_result());
  stage.pass(seconds(30));
  EXPECT_TRUE(stage.has_result());
}

// The profile of the type says which devices must exist.
TEST(CheckRunner, WaitsForTheInstanceType) {
  Stage stage;
  GpuTelemetry telemetry;
  telemetry.state = WorkerState::kAnswering;
  stage.store.set_telemetry(telemetry);
  stage.pass(seconds(20));
  EXPECT_FALSE(stage.has_result());
  stage.gpus_answer();
  stage.pass(seconds(1));
  EXPECT_TRUE(stage.has_result());
}

TEST(CheckRunner, SaysWhichQuickChecksHaveNoResultYet) {
  Stage stage({scripted_entry(), diagnostic()});
  const auto awaited = [&] { return stage.store.health().awaited; };
  EXPECT_THAT(awaited(), ElementsAre("0-scripted")) << "before the first tick";
  stage.gpus_answer();
  stage.pass(seconds(10));
  EXPECT_THAT(awaited(), IsEmpty());

  Stage disabled;
  disabled.settings.enabled = {};
  disabled.pass(seconds(1));
  EXPECT_THAT(disabled.store.health().awaited, IsEmpty());
}

// Its last result is from before it was disabled.
TEST(CheckRunner, WaitsForTheResultOfACheckThatIsEnabledAgain) {
  Stage stage;
  stage.gpus_answer();
  stage.pass(seconds(10));
  stage.settings.enabled = {};
  stage.pass(seconds(1));
  stage.settings.enabled = {0};
  script().hold();
  stage.clock.advance(seconds(1));
  stage.tick();
  EXPECT_THAT(stage.store.health().awaited, ElementsAre("0-scripted"));
  script().release();
  stage.pass(seconds(1));
  EXPECT_THAT(stage.store.health().awaited, IsEmpty());
}

void release(Stage& stage, bool is_wanted) {
  stage.store.update_health([&](Health& health) {
    health.release.reset();
    if (is_wanted) health.release = GpuRelease{"a Job", "a reset", stage.clock.wall()};
  });
}

TEST(CheckRunner, RunsNoCheckWhileTheGpusAreReleasedAndEachAfterIt) {
  Stage stage;
  stage.gpus_answer();
  stage.pass(seconds(10));
  EXPECT_EQ(script().runs, 1);

  release(stage, true);
  stage.pass(seconds(600));
  EXPECT_EQ(script().runs, 1);
  EXPECT_EQ(stage.result().status, CheckStatus::kSkip);
  EXPECT_EQ(stage.result().details, "the GPUs are released for another program: a reset");
  EXPECT_THAT(stage.store.health().awaited, ElementsAre("0-scripted"));

  release(stage, false);
  stage.gpus_answer();
  stage.pass(seconds(1));
  EXPECT_EQ(script().runs, 2) << "at once, not at the next interval";
  EXPECT_EQ(stage.result().status, CheckStatus::kPass);
  EXPECT_THAT(stage.store.health().awaited, IsEmpty());
}

// The check may hold a GPU itself. The runner drops its result.
TEST(CheckRunner, StopsARunningCheckWhenTheGpusAreReleased) {
  Stage stage(std::vector<CheckEntry>{});
  stage.gpus_answer();
  ProgramSettings slow;
  slow.name = "scratch-disk";
  slow.command = {"/bin/sh", "-c", "sleep 300"};
  slow.interval = seconds(60);
  stage.settings.programs = {slow};
  stage.clock.advance(seconds(10));
  stage.tick();
  release(stage, true);
  stage.pass(seconds(1));
  EXPECT_EQ(stage.store.state().checks.at("scratch-disk").status, CheckStatus::kSkip);
}

// The check needs longer to stop than the release lasts.
TEST(CheckRunner, PublishesNothingOfACheckThatWasStoppedForARelease) {
  Stage stage;
  stage.gpus_answer();
  script().hold();
  stage.pass(seconds(10));
  release(stage, true);
  stage.pass(seconds(1));
  release(stage, false);
  stage.gpus_answer();
  stage.pass(seconds(1));
  script().run = pending_remap;
  script().release();
  ASSERT_TRUE(support::poll_until([&] {
    stage.tick();
    return script().runs == 2;
  })) << "it runs again";
  stage.pass(seconds(1));
  EXPECT_EQ(stage.result().status, CheckStatus::kFail) << "by its second run";
}

// The run must end between two ticks. A try in which it has not ended yet proves nothing.
TEST(CheckRunner, KeepsWhatACheckHasFoundRightBeforeARelease) {
  Stage stage;
  stage.gpus_answer();
  stage.settings.results_dir = stage.state_folder.path();
  script().run = pending_remap;
  const std::filesystem::path file = stage.state_folder / "check-0-scripted.json";
  EXPECT_TRUE(support::poll_until([&] {
    std::filesystem::remove(file);
    stage.clock.advance(seconds(300));
    stage.tick();
    EXPECT_TRUE(support::poll_until([&] { return std::filesystem::exists(file); }));
    std::this_thread::yield();
    release(stage, true);
    stage.pass(seconds(0));
    const bool has_finding = !stage.store.state().findings.empty();
    release(stage, false);
    stage.gpus_answer();
    return has_finding;
  }));
}

// Otherwise the runner would wait for it without end.
TEST(CheckRunner, SaysAgainAfterAReleaseThatACheckIsStuck) {
  Stage stage;
  stage.gpus_answer();
  script().hold();
  stage.pass(seconds(10));
  stage.pass(seconds(60));
  ASSERT_EQ(stage.result().status, CheckStatus::kError);
  release(stage, true);
  stage.pass(seconds(1));
  EXPECT_EQ(stage.result().status, CheckStatus::kSkip);
  release(stage, false);
  stage.gpus_answer();
  stage.pass(seconds(60));
  EXPECT_EQ(stage.result().status, CheckStatus::kError);
  EXPECT_THAT(stage.store.health().awaited, IsEmpty());
}

TEST(CheckRunner, TheVerdictOfADiagnosticOutlivesARelease) {
  Stage stage({diagnostic()}, LogLevel::kError, [] {
    State state;
    state.checks["0-scripted"].check = "0-scripted";
    state.checks["0-scripted"].status = CheckStatus::kPass;
    return state;
  }());
  stage.settings.is_dcgm_l2_enabled = true;
  stage.gpus_answer();
  release(stage, true);
  stage.pass(seconds(1));
  release(stage, false);
  stage.pass(seconds(1));
  EXPECT_EQ(stage.result().status, CheckStatus::kPass);
}

TEST(CheckRunner, ChangedSettingsCountAtTheNextCycle) {
  Stage stage;
  stage.gpus_answer();
  stage.pass(seconds(10));
  stage.settings.check_interval = seconds(60);
  stage.pass(seconds(60));
  EXPECT_EQ(script().runs, 2);
  stage.settings.enabled = {};
  stage.pass(seconds(600));
  EXPECT_EQ(script().runs, 2);
  EXPECT_EQ(stage.result().status, CheckStatus::kSkip);
}

// An operator finds this line with `kubectl logs`.
TEST(CheckRunner, LogsTheFaultThatACheckHasFound) {
  testing::internal::CaptureStderr();
  Stage stage({scripted_entry()}, LogLevel::kWarn);
  stage.gpus_answer();
  script().run = pending_remap;

  stage.pass(seconds(10));

  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_THAT(log, HasSubstr("level=warn msg=\"Check finished\" check=0-scripted status=fail "
                             "severity=reset"));
  EXPECT_THAT(log, HasSubstr("details=\"a row waits\""));
}

// With --log.level=info an agent of a healthy node logs nothing for a cycle.
TEST(CheckRunner, LogsACheckThatPassesAtLevelDebugOnly) {
  const auto log_at = [](LogLevel level) {
    testing::internal::CaptureStderr();
    Stage stage({scripted_entry()}, level);
    stage.gpus_answer();
    stage.pass(seconds(10));
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_THAT(log_at(LogLevel::kInfo), IsEmpty());
  EXPECT_THAT(log_at(LogLevel::kDebug),
              HasSubstr("msg=\"Check finished\" check=0-scripted status=pass"));
}

CheckEntry on_demand(int number, const std::string& name) {
  CheckEntry entry = scripted_entry();
  entry.number = number;
  entry.name = name;
  entry.rhythm = CheckEntry::Rhythm::kOnDemand;
  return entry;
}

TEST(CheckRunner, WarnsOfAnEnabledCheckThatNoCycleRuns) {
  testing::internal::CaptureStderr();
  Stage stage({scripted_entry(), diagnostic(), on_demand(6, "6-loopback")}, LogLevel::kWarn);
  stage.gpus_answer();
  stage.settings.enabled = {0, 1, 6};

  stage.pass(seconds(10));
  stage.pass(seconds(300));

  EXPECT_EQ(script().runs, 2) << "of check 0";
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_THAT(log, HasSubstr("msg=\"Enabled check does not run in each cycle\" check=1 reason=\"it "
                             "needs idle GPUs: it runs every checks.dcgm_l2.interval\""));
  EXPECT_THAT(log, HasSubstr("check=6 reason=\"it needs an idle node: run it with gpuward-exporter "
                             "quarantine or gpuward-exporter check\""));
  EXPECT_THAT(log, Not(HasSubstr("check=0 ")));
  EXPECT_EQ(log.find("check=6", log.find("check=6") + 1), std::string::npos) << "once: " << log;
}

ProgramSettings program(const std::string& script) {
  ProgramSettings settings;
  settings.name = "scratch-disk";
  settings.command = {"/bin/sh", "-c", script};
  settings.interval = seconds(60);
  return settings;
}

TEST(CheckRunner, RunsAProgramAtItsOwnInterval) {
  Stage stage(std::vector<CheckEntry>{});
  stage.gpus_answer();
  const auto runs = stage.state_folder / "runs";
  stage.settings.programs = {program("echo x >> " + runs.string())};
  stage.pass(seconds(10));
  EXPECT_EQ(read_file(runs), "x\n");
  EXPECT_EQ(stage.store.state().checks.at("scratch-disk").status, CheckStatus::kPass);
  stage.pass(seconds(59));
  EXPECT_EQ(read_file(runs), "x\n");
  stage.pass(seconds(1));
  EXPECT_EQ(read_file(runs), "x\nx\n");
}

TEST(CheckRunner, TheFindingOfAProgramGoesAtItsNextPassAndStaysWhileItCannotTell) {
  Stage stage(std::vector<CheckEntry>{});
  stage.gpus_answer();
  stage.settings.programs = {program("echo full; exit 1")};
  stage.pass(seconds(10));
  ASSERT_EQ(stage.store.state().findings.size(), 1U);
  EXPECT_EQ(stage.store.state().checks.at("scratch-disk").status, CheckStatus::kWarn);
  stage.settings.programs = {program("exit 2")};
  stage.pass(seconds(60));
  EXPECT_EQ(stage.store.state().findings.size(), 1U);
  EXPECT_EQ(stage.store.state().checks.at("scratch-disk").status, CheckStatus::kError);
  stage.settings.programs = {program("exit 0")};
  stage.pass(seconds(60));
  EXPECT_TRUE(stage.store.state().findings.empty());
  EXPECT_EQ(stage.store.state().checks.at("scratch-disk").status, CheckStatus::kPass);
}

TEST(CheckRunner, AProgramThatIsNotConfiguredAnyMoreHasNoStatus) {
  Stage stage(std::vector<CheckEntry>{});
  stage.gpus_answer();
  stage.settings.programs = {program("exit 0")};
  stage.pass(seconds(10));
  stage.settings.programs = {};
  stage.pass(seconds(60));
  EXPECT_EQ(stage.store.state().checks.at("scratch-disk").status, CheckStatus::kSkip);
}

Finding standing(const std::string& check, const std::string& code, ClearedBy cleared_by,
                 Evidence evidence = Evidence::kMeasured) {
  Finding finding;
  finding.check = check;
  finding.code = code;
  finding.severity = Severity::kReset;
  finding.cleared_by = cleared_by;
  finding.evidence = evidence;
  return finding;
}

State with_findings(const std::vector<Finding>& findings) {
  State state;
  for (const Finding& finding : findings) {
    state.findings[{finding.check, finding.code, finding.pci_bus_id, finding.evidence}] = finding;
    state.checks[finding.check].check = finding.check;
    state.checks[finding.check].status = CheckStatus::kFail;
    state.checks[finding.check].severity = finding.severity;
  }
  return state;
}

std::vector<std::string> codes_in(const Store& store) {
  std::vector<std::string> codes;
  for (const auto& [key, finding] : store.state().findings) codes.push_back(key.code);
  return codes;
}

// The check that would clear them no longer runs, and the node would stay tainted.
TEST(CheckRunner, EndsTheFindingsOfACheckThatIsTakenOutAndLogsEach) {
  testing::internal::CaptureStderr();
  Stage stage({scripted_entry()}, LogLevel::kWarn);
  stage.gpus_answer();
  script().run = pending_remap;
  stage.pass(seconds(10));
  ASSERT_EQ(stage.result().status, CheckStatus::kFail);

  stage.settings.enabled = {};
  stage.pass(seconds(1));

  EXPECT_EQ(stage.result().status, CheckStatus::kSkip);
  EXPECT_EQ(stage.result().severity, Severity::kNone);
  EXPECT_THAT(codes_in(stage.store), IsEmpty());
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("level=warn msg=\"Ended finding, its check is not enabled any more\" "
                        "check=0-scripted code=row_remap_pending pci_bus_id=\"\" severity=reset"));

  stage.settings.enabled = {0};
  stage.pass(seconds(1));
  EXPECT_EQ(stage.result().status, CheckStatus::kFail) << "it finds it again";
}

TEST(CheckRunner, KeepsOfACheckThatIsTakenOutWhatSomethingElseClears) {
  Stage stage({scripted_entry()}, LogLevel::kError,
              with_findings({standing("0-scripted", "by_check", ClearedBy::kCheck),
                             standing("0-scripted", "by_diagnostics", ClearedBy::kDiagnostics),
                             standing("0-scripted", "by_operator", ClearedBy::kOperator),
                             standing("0-scripted", "by_reboot", ClearedBy::kReboot),
                             standing("0-scripted", "by_reset", ClearedBy::kGpuReset)}));
  stage.settings.enabled = {};

  stage.pass(seconds(1));

  EXPECT_THAT(codes_in(stage.store),
              ElementsAre("by_diagnostics", "by_operator", "by_reboot", "by_reset"));
  EXPECT_EQ(stage.result().status, CheckStatus::kFail);
}

// Checks of the configuration say nothing about reports of the driver and the kernel.
TEST(CheckRunner, EndsNoFindingOfReadingsAndTheKernelLogWithNoCheckEnabled) {
  Stage stage({scripted_entry()}, LogLevel::kError,
              with_findings({standing("0-scripted", "mine", ClearedBy::kCheck),
                             standing("scratch-disk", "full", ClearedBy::kCheck),
                             standing("gpu", "ecc_uncorrected", ClearedBy::kCheck),
                             standing("announcements", "announced_reboot", ClearedBy::kCheck),
                             standing("xid", "79", ClearedBy::kReboot, Evidence::kKernel)}));
  stage.settings.enabled = {};

  stage.pass(seconds(1));

  EXPECT_THAT(codes_in(stage.store), ElementsAre("announced_reboot", "ecc_uncorrected", "79"));
}

TEST(CheckRunner, EndsTheFindingOfAProgramThatIsRemoved) {
  Stage stage(std::vector<CheckEntry>{});
  stage.gpus_answer();
  ProgramSettings full = program("echo full; exit 1");
  full.severity = Severity::kReset;
  stage.settings.programs = {full};
  stage.pass(seconds(10));
  ASSERT_EQ(stage.store.state().checks.at("scratch-disk").status, CheckStatus::kFail);

  stage.settings.programs = {};
  stage.pass(seconds(1));

  EXPECT_THAT(codes_in(stage.store), IsEmpty());
  EXPECT_EQ(stage.store.state().checks.at("scratch-disk").status, CheckStatus::kSkip);
}

// Nothing runs during the release, and its status is that of the release.
TEST(CheckRunner, EndsTheFindingsOfACheckThatIsTakenOutDuringARelease) {
  Stage stage;
  stage.gpus_answer();
  script().run = pending_remap;
  stage.pass(seconds(10));
  release(stage, true);
  stage.pass(seconds(1));
  ASSERT_THAT(codes_in(stage.store), ElementsAre("row_remap_pending"));

  stage.settings.enabled = {};
  stage.pass(seconds(1));
  release(stage, false);
  stage.pass(seconds(1));

  EXPECT_THAT(codes_in(stage.store), IsEmpty());
  EXPECT_EQ(stage.result().status, CheckStatus::kSkip);
}

// An earlier release has left them. With a finding of severity monitor a skip stays a skip, and a
// finding from before a reboot keeps the node from passing.
TEST(CheckRunner, EndsAtItsStartTheFindingsOfACheckWhoseStatusIsSkip) {
  State known = with_findings({standing("0-scripted", "mine", ClearedBy::kCheck)});
  known.findings.begin()->second.severity = Severity::kNone;
  known.checks.at("0-scripted").status = CheckStatus::kSkip;
  Stage stage({scripted_entry()}, LogLevel::kError, known);
  stage.settings.enabled = {};

  stage.pass(seconds(1));

  EXPECT_THAT(codes_in(stage.store), IsEmpty());
}

State with_error_of(const std::vector<std::string>& checks) {
  State state;
  for (const std::string& check : checks) {
    state.checks[check].check = check;
    state.checks[check].status = CheckStatus::kError;
  }
  return state;
}

// An error that no check replaces would always keep the node from passing.
TEST(CheckRunner, WithdrawsAtItsStartResultsOfChecksThatTheSettingsDoNotRun) {
  Stage stage({scripted_entry()}, LogLevel::kError,
              with_error_of({"0-scripted", "scratch-disk", "gpu", "announcements"}));
  stage.settings.enabled = {};
  stage.pass(seconds(1));
  const auto status = [&](const char* check) {
    return stage.store.state().checks.at(check).status;
  };
  EXPECT_EQ(status("0-scripted"), CheckStatus::kSkip);
  EXPECT_EQ(status("scratch-disk"), CheckStatus::kSkip);
  EXPECT_EQ(status("gpu"), CheckStatus::kError) << "the runner does not run it";
  EXPECT_EQ(status("announcements"), CheckStatus::kError);
}

TEST(CheckRunner, KeepsTheResultOfAnEnabledCheckUntilItHasRun) {
  Stage stage({scripted_entry()}, LogLevel::kError, with_error_of({"0-scripted"}));
  stage.pass(seconds(1));
  EXPECT_EQ(stage.result().status, CheckStatus::kError);
  stage.gpus_answer();
  stage.pass(seconds(10));
  EXPECT_EQ(stage.result().status, CheckStatus::kPass);
}

TEST(CheckRunner, WarnsOnceOfAFirstResultThatTakesLong) {
  testing::internal::CaptureStderr();
  CheckEntry slow = scripted_entry();
  slow.timeout = minutes(10);
  Stage stage({slow}, LogLevel::kWarn);
  stage.gpus_answer();
  script().hold();
  stage.pass(seconds(10));
  stage.pass(seconds(119));
  stage.pass(seconds(1));
  const std::string log = testing::internal::GetCapturedStderr();
  const std::string line =
      "msg=\"Waiting for first results of checks, not passing the node\" checks=0-scripted";
  ASSERT_THAT(log, HasSubstr(line));
  EXPECT_EQ(log.find(line), log.rfind(line)) << log;
}

TEST(CheckRunner, StopsAProgramThatIsNotConfiguredAnyMore) {
  Stage stage(std::vector<CheckEntry>{});
  stage.gpus_answer();
  stage.settings.programs = {program("sleep 300")};
  stage.clock.advance(seconds(10));
  stage.tick();
  stage.settings.programs = {};
  stage.pass(seconds(1));
  EXPECT_EQ(stage.store.state().checks.at("scratch-disk").status, CheckStatus::kSkip);
}

// In the replaced suite a check that died without a file counted as pass.
TEST(CheckRunner, ACheckThatThrowsIsAnError) {
  Stage stage;
  stage.gpus_answer();
  script().run = [](const CheckContext&) -> CheckOutcome { throw std::runtime_error("broken"); };
  stage.pass(seconds(10));
  EXPECT_EQ(stage.result().status, CheckStatus::kError);
  EXPECT_THAT(stage.result().details, HasSubstr("broken"));
}

// In the replaced suite a hung program froze the agent, and its last pass stayed.
TEST(CheckRunner, ACheckThatDoesNotEndIsAnErrorWhileItIsStuck) {
  Stage stage;
  stage.gpus_answer();
  stage.pass(seconds(10));
  ASSERT_EQ(stage.result().status, CheckStatus::kPass);
  script().hold();
  stage.pass(seconds(300));
  ASSERT_TRUE(runs_reach(2));
  stage.pass(seconds(39));
  EXPECT_EQ(stage.result().status, CheckStatus::kPass);
  stage.pass(seconds(1));
  EXPECT_EQ(stage.result().status, CheckStatus::kError);
  EXPECT_THAT(stage.result().details, HasSubstr("still running after 40 s"));

  stage.pass(hours(1));
  EXPECT_EQ(script().runs, 2) << "it was started again beside itself";
  script().release();
  stage.pass(seconds(1));
  EXPECT_EQ(stage.result().status, CheckStatus::kPass);
}

TEST(CheckRunner, AStuckCheckLeavesItsFailureStanding) {
  Stage stage;
  stage.gpus_answer();
  script().run = pending_remap;
  stage.pass(seconds(10));
  ASSERT_EQ(stage.result().status, CheckStatus::kFail);
  script().hold();
  stage.pass(seconds(300));
  ASSERT_TRUE(runs_reach(2));
  stage.pass(seconds(60));
  EXPECT_EQ(stage.result().status, CheckStatus::kFail);
  EXPECT_THAT(stage.result().details, HasSubstr("still running"));
  EXPECT_EQ(stage.store.state().findings.size(), 1U);
}

TEST(CheckRunner, EndsWithinASecondWhenACheckIsStuck) {
  const auto once = [] {
    Stage stage;
    stage.gpus_answer();
    script().hold();
    stage.pass(seconds(10));
    EXPECT_TRUE(runs_reach(1));
    const auto begin = std::chrono::steady_clock::now();
    stage.end_runner();
    return std::chrono::steady_clock::now() - begin;
  };
  EXPECT_LT(support::quickest_of(seconds(2), once), seconds(2));
}

TEST(CheckRunner, TellsACheckToStopAtItsDeadline) {
  Stage stage;
  stage.gpus_answer();
  script().run = [](const CheckContext& context) {
    static_cast<void>(support::poll_until([&] { return context.stop.stop_requested(); }));
    return CheckOutcome::error("was told to stop");
  };
  stage.clock.advance(seconds(10));
  stage.tick();
  ASSERT_TRUE(runs_reach(1));
  stage.pass(seconds(30));
  EXPECT_EQ(stage.result().details, "was told to stop");
}

TEST(CheckRunner, ADiagnosticNeverRunsAtTheStartButInItsSlot) {
  Stage stage({diagnostic()});
  stage.gpus_answer();
  stage.pass(minutes(14));
  EXPECT_EQ(script().runs, 0);
  EXPECT_EQ(kQuietStart, minutes(15)) << "wherever the slot of a node lies";
  for (int minute = 0; minute < 6 * 60 + 15 && script().runs == 0; ++minute) stage.pass(minutes(1));
  EXPECT_EQ(script().runs, 1);
  stage.pass(hours(5));
  EXPECT_EQ(script().runs, 1);
  stage.pass(hours(1));
  EXPECT_EQ(script().runs, 2);
}

void use_a_gpu(Stage& stage) {
  Workloads workloads;
  workloads.is_known = true;
  workloads.by_device["GPU-1"] = {{"training", "llm-0", "main"}};
  stage.store.set_workloads(workloads);
}

void run_diagnostic(Stage& stage) {
  for (int step = 0; step < 13; ++step) stage.pass(minutes(30));
}

TEST(CheckRunner, ADiagnosticIsSkippedWhileGpusAreInUse) {
  Stage stage({diagnostic()});
  stage.gpus_answer();
  use_a_gpu(stage);
  run_diagnostic(stage);
  EXPECT_EQ(script().runs, 0);
  EXPECT_EQ(stage.result().status, CheckStatus::kSkip);
  EXPECT_THAT(stage.result().details, HasSubstr("training/llm-0"));
}

TEST(CheckRunner, ADiagnosticIsSkippedWhenNobodyCanTellWhetherGpusAreInUse) {
  Stage stage({diagnostic()});
  Scenario node;
  node.gpu(0).processes.reset();
  stage.store.set_telemetry(node.make_snapshot().telemetry);
  run_diagnostic(stage);
  EXPECT_EQ(script().runs, 0);
  EXPECT_THAT(stage.result().details, HasSubstr("it is unknown whether"));
}

TEST(CheckRunner, ADiagnosticIsSkippedWhileAQuarantineHasTheNode) {
  Stage stage({diagnostic()});
  stage.gpus_answer();
  stage.objection = "a quarantine is running on it";
  run_diagnostic(stage);
  EXPECT_EQ(script().runs, 0);
  EXPECT_EQ(stage.result().status, CheckStatus::kSkip);
  EXPECT_THAT(stage.result().details, HasSubstr("quarantine"));

  stage.objection.reset();
  run_diagnostic(stage);
  EXPECT_GE(script().runs, 1);
}

// A quarantine that began, or was requested, before the node was marked.
TEST(CheckRunner, ADiagnosticIsSkippedWhileAnotherHasTheGpus) {
  Stage stage({diagnostic()});
  stage.gpus_answer();
  {
    const auto lock = GpuLock::take(stage.state_folder.path(), "4-dcgm-diag-l4");
    ASSERT_TRUE(lock);
    run_diagnostic(stage);
  }
  EXPECT_EQ(script().runs, 0);
  EXPECT_EQ(stage.result().status, CheckStatus::kSkip);
  EXPECT_EQ(stage.result().details, "4-dcgm-diag-l4 has the GPUs");

  run_diagnostic(stage);
  EXPECT_GE(script().runs, 1);
}

TEST(CheckRunner, ADiagnosticHasTheGpusWhileItRuns) {
  Stage stage({diagnostic()});
  stage.gpus_answer();
  std::string answer;
  script().run = [&](const CheckContext&) {
    const auto other = GpuLock::take(stage.state_folder.path(), "4-dcgm-diag-l4");
    answer = other ? "free" : other.error().message;
    return CheckOutcome::done("well");
  };
  run_diagnostic(stage);
  EXPECT_EQ(answer, "0-scripted has the GPUs");
  EXPECT_TRUE(GpuLock::take(stage.state_folder.path(), "4-dcgm-diag-l4")) << "it was given back";
}

TEST(CheckRunner, QuickChecksRunWhoeverHasTheNode) {
  Stage stage;
  stage.gpus_answer();
  stage.objection = "a quarantine is running on it";
  stage.pass(seconds(10));
  EXPECT_EQ(script().runs, 1);
}

// In the replaced suite a failed diagnostic was forgotten after one cycle.
TEST(CheckRunner, TheVerdictOfADiagnosticStaysUntilAnotherSupersedesIt) {
  Stage stage({diagnostic()});
  stage.gpus_answer();
  script().run = pending_remap;
  run_diagnostic(stage);
  ASSERT_EQ(stage.result().status, CheckStatus::kFail);
  const WallTime looked = stage.result().started;

  use_a_gpu(stage);
  run_diagnostic(stage);
  EXPECT_EQ(stage.result().status, CheckStatus::kFail);
  EXPECT_EQ(stage.result().started, looked);
  EXPECT_EQ(stage.store.state().findings.size(), 1U);
}

TEST(CheckRunner, WritesResultFilesWhereTheSettingsSay) {
  const support::TempDir folder;
  Stage stage;
  stage.settings.results_dir = folder / "results";
  stage.gpus_answer();
  stage.pass(seconds(10));
  const auto text = read_file(folder / "results/check-0-scripted.json");
  ASSERT_TRUE(text);
  EXPECT_THAT(*text, HasSubstr(R"("status":"PASS")"));
}

}  // namespace
}  // namespace gpuward::exporter
