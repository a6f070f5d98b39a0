#include "exporter/commands/run_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <sstream>

#include "core/runtime/files.h"
#include "core/runtime/json.h"
#include "exporter/host/gpu_lock.h"
#include "exporter/store/state_file.h"
#include "tests/fakes/fake_clock.h"
#include "tests/support/deadline.h"
#include "tests/support/environment.h"
#include "tests/support/host_tree.h"
#include "tests/support/quickest.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/exporter/checks/scenario.h"
#include "tests/unit/exporter/checks/stage.h"

namespace gpuward::exporter {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class FixedSource final : public GpuSource {
 public:
  explicit FixedSource(GpuTelemetry telemetry) : telemetry_(std::move(telemetry)) {}
  bool wait(std::chrono::milliseconds, const std::stop_token&) override { return false; }
  [[nodiscard]] GpuTelemetry telemetry() const override { return telemetry_; }
  [[nodiscard]] std::vector<GpuXid> take_xids() override { return {}; }
  void hurry() override {}
  void set_released(bool /*is_released*/) override {}
  [[nodiscard]] bool has_let_go() const override { return false; }
  [[nodiscard]] std::string describe() const override { return "fixed"; }

 private:
  GpuTelemetry telemetry_;
};

class CheckCommandTest : public ::testing::Test {
 protected:
  CheckCommandTest() {
    reset_script();
    for (std::size_t gpu = 0; gpu < 8; ++gpu) {
      host_.with_pci(Scenario::bus_id(gpu) + ".0", support::h100());
    }
    parts_.policy.catalogue = std::make_shared<const xid::Catalogue>();
    parts_.policy.settings.kernel_log_path = folder_.write("kmsg", "").string();
    parts_.policy.settings.checks.tool_dirs = {folder_.path()};
    parts_.host = host_.paths();
    parts_.host_name = "node-1";
    parts_.instance_type = "p5.48xlarge";
    parts_.boot_id = "boot-2";
    parts_.state_path = folder_ / "state";
    parts_.make_gpu_source = [this]() -> Result<std::unique_ptr<GpuSource>> {
      ++sources_;
      return std::make_unique<FixedSource>(node_.make_snapshot().telemetry);
    };
  }

  int run(const CheckRequest& request) {
    out_.str("");
    err_.str("");
    return run_checks(request, parts_, clock_, {}, out_, err_);
  }
  void save_state_with_xid_79() {
    node_.kernel_has("xid", "79", Scenario::bus_id(2), Severity::kReboot);
    ASSERT_TRUE(StateFile(parts_.state_path).save(to_state_json(node_.known)));
  }

  support::TempDir folder_;
  support::HostTree host_;
  Scenario node_;
  SystemClock clock_;
  CheckParts parts_;
  std::ostringstream out_, err_;
  int sources_ = 0;
};

TEST_F(CheckCommandTest, ExitsWith0IfAllIsWell) {
  EXPECT_EQ(run({.check = "0"}), 0) << out_.str();
  EXPECT_THAT(out_.str(), HasSubstr("0-nvidia-smi: pass"));
}

TEST_F(CheckCommandTest, ExitsWith1IfACheckFails) {
  node_.gpu(1).rows.pending = true;
  EXPECT_EQ(run({.check = "0"}), 1);
  EXPECT_THAT(out_.str(), HasSubstr("fail (reset)"));
}

TEST_F(CheckCommandTest, ExitsWith3IfACheckCannotTell) {
  node_.state = WorkerState::kCrashed;
  EXPECT_EQ(run({.check = "0"}), 3);
  EXPECT_THAT(out_.str(), HasSubstr("error"));
}

TEST_F(CheckCommandTest, ExitsWith2OnWrongUsageAndRunsNothing) {
  EXPECT_EQ(run({}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("give exactly one of"));
  EXPECT_EQ(sources_, 0);
}

// The replaced suite read its text as a GPU, and the check failed.
TEST_F(CheckCommandTest, ADryRunSaysWhatItWouldRunAndTouchesNothing) {
  EXPECT_EQ(run({.suite = "intensive", .is_dry_run = true}), 0);
  EXPECT_THAT(out_.str(), HasSubstr("4-dcgm-diag-l4, 9060 s at most"));
  EXPECT_EQ(sources_, 0);
}

TEST_F(CheckCommandTest, SaysFirstWhichOfSeveralChecksCannotRun) {
  const support::Environment path("PATH", folder_.path().string());
  const std::string missing = " cannot run: not on PATH or in the folders of checks.tool_dirs: ";
  EXPECT_EQ(run({.suite = "intensive", .is_dry_run = true}), 0);
  EXPECT_THAT(err_.str(), HasSubstr("4-dcgm-diag-l4" + missing + "dcgmi\n"));
  EXPECT_THAT(err_.str(), HasSubstr("5-nccl-allreduce" + missing + "all_reduce_perf\n"));
  EXPECT_EQ(run({.suite = "intensive", .is_exclusive = true}), 0);
  EXPECT_THAT(err_.str(), HasSubstr("4-dcgm-diag-l4" + missing + "dcgmi\n"));
  EXPECT_THAT(out_.str(), HasSubstr("4-dcgm-diag-l4: skip"));
}

TEST_F(CheckCommandTest, TakesXidsFromTheExportersState) {
  save_state_with_xid_79();
  EXPECT_EQ(run({.check = "nvidia-smi"}), 1);
  EXPECT_THAT(out_.str(), HasSubstr("xid 79 on " + Scenario::bus_id(2)));
}

// A clock on which each wait ends at once and calls `on_sleep`.
class PatientClock final : public Clock {
 public:
  [[nodiscard]] Wall wall() const override { return real_.wall(); }
  [[nodiscard]] Steady steady() const override { return real_.steady() + slept_.load(); }
  bool sleep_until(Steady deadline, std::stop_token) override {
    slept_ = slept_.load() + std::max(deadline - steady(), Steady::duration::zero());
    if (on_sleep) on_sleep();
    return true;
  }
  std::function<void()> on_sleep;

 private:
  SystemClock real_;
  std::atomic<Steady::duration> slept_{};
};

class GpuLockCommandTest : public CheckCommandTest {
 protected:
  GpuLockCommandTest() {
    parts_.state_path = folder_.path();
    entries_[0].loads_gpus = true;
    parts_.checks = entries_;
  }
  int run_patiently(const CheckRequest& request) {
    return run_checks(request, parts_, patient_, {}, out_, err_);
  }
  CheckEntry entries_[1] = {scripted_entry()};
  PatientClock patient_;
};

TEST_F(GpuLockCommandTest, ACheckThatLoadsTheGpusNeverRunsBesideAnother) {
  const auto level_2 = GpuLock::take(folder_.path(), "1-dcgm-diag-l2");
  ASSERT_TRUE(level_2);
  EXPECT_EQ(run({.check = "0"}), 0);
  EXPECT_THAT(out_.str(), HasSubstr("0-scripted: skip in 0 ms: 1-dcgm-diag-l2 has the GPUs"));
  EXPECT_EQ(script().runs, 0);
}

// The node's own level 2 had begun when the quarantine marked the node.
TEST_F(GpuLockCommandTest, AQuarantineWaitsForTheLevel2ThatRuns) {
  std::optional<Result<GpuLock>> level_2(GpuLock::take(folder_.path(), "1-dcgm-diag-l2"));
  ASSERT_TRUE(*level_2);
  int slept = 0;
  patient_.on_sleep = [&] {
    if (++slept == 3) level_2.reset();
  };
  EXPECT_EQ(run_patiently({.check = "0", .gpus_wait = std::chrono::minutes(17)}), 0);
  EXPECT_EQ(script().runs, 1);
  EXPECT_THAT(err_.str(), HasSubstr("0-scripted waits: 1-dcgm-diag-l2 has the GPUs"));
}

TEST_F(GpuLockCommandTest, AQuarantineGivesUpALevel2ThatDoesNotEnd) {
  const auto level_2 = GpuLock::take(folder_.path(), "1-dcgm-diag-l2");
  ASSERT_TRUE(level_2);
  EXPECT_EQ(run_patiently({.check = "0", .gpus_wait = std::chrono::minutes(17)}), 0);
  EXPECT_EQ(script().runs, 0);
  EXPECT_THAT(out_.str(), HasSubstr("skip"));
}

// A type without a profile, and a card that has fallen off the bus and out of the driver.
TEST_F(CheckCommandTest, APrologRefusesAJobOnAMachineThatHasLostAGpuItOnceHad) {
  parts_.instance_type = "x9.metal";
  parts_.machine.system_uuid = "4c4c4544";
  node_.known.machine.machine = parts_.machine;
  node_.known.machine.most[Vendor::kNvidia] = 8;
  ASSERT_TRUE(StateFile(parts_.state_path).save(to_state_json(node_.known)));
  EXPECT_EQ(run({.is_prolog = true}), 0) << out_.str();
  node_.take_out_of_driver(7);
  host_.loses_pci(Scenario::bus_id(7) + ".0");
  EXPECT_EQ(run({.is_prolog = true}), 1) << out_.str();
  EXPECT_THAT(out_.str(), HasSubstr("gpu_missing_unconfirmed"));
  parts_.machine.system_uuid = "of another machine";
  EXPECT_EQ(run({.is_prolog = true}), 0) << out_.str();
}

TEST_F(CheckCommandTest, TakesXidsFromTheKernelLogIfNoExporterHasKeptThem) {
  static_cast<void>(folder_.write(
      "kmsg", "NVRM: Xid (PCI:" + Scenario::bus_id(2) +
                  "): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.\n"));
  EXPECT_EQ(run({.check = "0"}), 1);
  EXPECT_THAT(out_.str(), HasSubstr("xid 79 on " + Scenario::bus_id(2)));
}

TEST_F(CheckCommandTest, TakesAnXidOfThisBootFromTheKernelLogWhateverItsAge) {
  static_cast<void>(folder_.write(
      "kmsg", to_rfc3339(clock_.wall() - std::chrono::hours(3)) +
                  " node kernel: NVRM: Xid (PCI:" + Scenario::bus_id(2) +
                  "): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.\n"));
  EXPECT_EQ(run({.check = "0"}), 1) << out_.str();
  EXPECT_THAT(out_.str(), HasSubstr("xid 79 on " + Scenario::bus_id(2)));
}

// In the replaced suite an old Xid kept failing. Here a reboot ends a finding that a reboot heals.
TEST_F(CheckCommandTest, AnXidOfTheBootBeforeIsHistory) {
  save_state_with_xid_79();
  parts_.boot_id = "boot-3";
  EXPECT_EQ(run({.check = "0"}), 0) << out_.str();
}

TEST_F(CheckCommandTest, PrintsOneJsonObjectForEachCheckAndWritesThemAsFiles) {
  CheckRequest request{.suite = "lightweight", .output = OutputFormat::kJson};
  request.results_dir = folder_ / "results";
  static_cast<void>(run(request));
  std::istringstream lines(out_.str());
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) EXPECT_TRUE(parse_json(line)) << line;
  const auto summary = read_file(folder_ / "results/summary.json");
  ASSERT_TRUE(summary);
  EXPECT_EQ(member_at(*parse_json(*summary), "completed_checks"), count);
  EXPECT_TRUE(read_file(folder_ / "results/check-0-nvidia-smi.json"));
}

TEST_F(CheckCommandTest, PrintsADocumentOfYamlForEachCheck) {
  EXPECT_EQ(run({.check = "1", .output = OutputFormat::kYaml}), 0) << err_.str();
  EXPECT_THAT(out_.str(), ::testing::StartsWith("---\ncheck: \"1-dcgm-diag-l2\"\n"));
}

// Kubernetes' terminationMessagePath: how the sweep learns of a check that was skipped.
TEST_F(CheckCommandTest, LeavesTheLastChecksResultAsTheContainersLastWords) {
  CheckRequest request{.check = "1"};
  request.termination_log = folder_.write("termination-log", "of a run before, and longer");
  EXPECT_EQ(run(request), 0) << err_.str();
  const auto words = read_file(request.termination_log);
  ASSERT_TRUE(words);
  const auto json = parse_json(*words);
  ASSERT_TRUE(json) << *words;
  EXPECT_EQ(string_at(*json, "check"), "1-dcgm-diag-l2");
  EXPECT_EQ(string_at(*json, "status"), "SKIP");
}

TEST_F(CheckCommandTest, WritesItsLastWordsInPlaceBecauseTheFileIsAMount) {
  const auto target = folder_.write("mounted", "");
  std::filesystem::create_symlink(target, folder_ / "termination-log");
  parts_.instance_type = "x9.metal";
  CheckRequest request{.suite = "lightweight"};
  request.termination_log = folder_ / "termination-log";
  static_cast<void>(run(request));
  EXPECT_TRUE(std::filesystem::is_symlink(request.termination_log));
  EXPECT_THAT(*read_file(target), HasSubstr("3-topology-check"));
}

TEST_F(CheckCommandTest, LastWordsThatCannotBeWrittenAreSaidAndChangeNoVerdict) {
  CheckRequest request{.check = "0"};
  request.termination_log = folder_ / "no-folder/termination-log";
  EXPECT_EQ(run(request), 0);
  EXPECT_THAT(err_.str(), HasSubstr(request.termination_log.string()));
}

TEST_F(CheckCommandTest, TheQuickSuiteEndsAtItsFirstFailure) {
  node_.gpu(1).rows.failure = true;
  EXPECT_EQ(run({.suite = "lightweight"}), 1);
  EXPECT_THAT(out_.str(), Not(HasSubstr("2-efa-enumeration")));
}

// Done when: `check --suite lightweight` without diagnostics ends within 2 s on the fake.
TEST_F(CheckCommandTest, TheLightweightSuiteWithoutDiagnosticsEndsWithinTwoSeconds) {
  parts_.instance_type = "x9.metal";
  const auto once = [this] {
    const auto begin = clock_.steady();
    EXPECT_EQ(run({.suite = "lightweight"}), 0) << out_.str();
    return clock_.steady() - begin;
  };
  constexpr std::chrono::seconds kLimit{2};
  EXPECT_LT(support::quickest_of(kLimit, once), kLimit);
  EXPECT_THAT(out_.str(), HasSubstr("1-dcgm-diag-l2: skip"));
  EXPECT_THAT(out_.str(), HasSubstr("3-topology-check: pass"));
}

TEST_F(CheckCommandTest, AGivenTimeoutEndsACheckThatIsStuck) {
  const CheckEntry entries[] = {scripted_entry()};
  parts_.checks = entries;
  script().run = [](const CheckContext& context) {
    SystemClock().sleep_for(support::kGenerous, context.stop);
    return CheckOutcome::error("told to stop");
  };
  CheckRequest request{.check = "0"};
  request.timeout = std::chrono::milliseconds(20);
  EXPECT_EQ(run(request), 3);
  EXPECT_THAT(out_.str(), HasSubstr("told to stop"));
}

TEST_F(CheckCommandTest, RunsAProgramOfTheOperator) {
  parts_.policy.settings.checks.programs = {
      {.name = "scratch-disk", .command = {"/bin/sh", "-c", "echo full; exit 1"}}};
  EXPECT_EQ(run({.check = "scratch-disk"}), 0);
  EXPECT_THAT(out_.str(), HasSubstr("scratch-disk: warn (monitor)"));
  EXPECT_THAT(out_.str(), HasSubstr("full"));
}

TEST_F(CheckCommandTest, ALibrarySourceThatCannotBeMadeIsAnError) {
  parts_.make_gpu_source = []() -> Result<std::unique_ptr<GpuSource>> {
    return fail(ErrorKind::kInvalid, "no such scenario");
  };
  EXPECT_EQ(run({.check = "0"}), 3);
  EXPECT_THAT(out_.str(), HasSubstr("no such scenario"));
}

}  // namespace
}  // namespace gpuward::exporter
